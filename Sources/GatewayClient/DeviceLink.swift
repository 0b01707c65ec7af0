import HTTP2Transport

/// A device's stream on a connection, as ``DeviceSession`` needs it.
protocol DeviceLink: Sendable {
  /// The lines of the gateway with their ends, one or more per element; finishes with the stream, throws when the
  /// connection is lost. The size of each element has to be passed to ``taken(_:)``.
  var lines: AsyncThrowingStream<[UInt8], any Error> { get }
  /// Reports that lines of `size` bytes were released.
  func taken(_ size: Int)
  func send(_ line: String)
  /// Ends the device's side of the stream; the gateway then ends its own.
  func finish()
  /// Sends a request of the device outside its stream, and returns the response.
  func post(_ path: String, _ body: [UInt8]) async throws -> Client.Answer
  /// Reads a resource of the device.
  func get(_ path: String) async throws -> Client.Answer
  func close()
}

/// A device's stream on a ``Client``.
struct ClientLink: DeviceLink {
  private let client: Client
  private let stream: LineStream
  private let secret: String

  var lines: AsyncThrowingStream<[UInt8], any Error> { stream.lines }

  /// Connects to a gateway and opens the stream.
  ///
  /// - Throws: ``ClientError``.
  static func connect(
    to endpoint: Client.Endpoint, _ credentials: Credentials, pingInterval: Duration?
  ) async throws -> ClientLink {
    let client = try await Client.connect(to: endpoint, pingInterval: pingInterval)
    do {
      let stream = try await client.stream(
        "POST", "/v1/device/stream", [(.authorization, "bearer " + credentials.secret)], isGathering: true)
      return ClientLink(client: client, stream: stream, secret: credentials.secret)
    } catch {
      client.close()
      throw error
    }
  }

  func taken(_ size: Int) { stream.taken(size) }
  func send(_ line: String) { stream.send(line) }
  func finish() { stream.finish() }
  func close() { client.close() }

  func post(_ path: String, _ body: [UInt8]) async throws -> Client.Answer {
    try await client.request("POST", path, [(.authorization, "bearer " + secret)], body: body)
  }

  func get(_ path: String) async throws -> Client.Answer {
    try await client.request("GET", path, [(.authorization, "bearer " + secret)])
  }
}
