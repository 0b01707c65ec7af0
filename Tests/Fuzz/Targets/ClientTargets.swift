import NIOCore
import NIOEmbedded
import PushPolicy

@testable import GatewayClient
@testable import GatewayProtocol
@testable import HTTP2Transport
@testable import PushCore

extension FuzzTarget {
  /// Data from a hostile gateway to a client that has sent a request and opened a device's stream. The first byte gives
  /// the size of the pieces for the rest, and its format: frames, or lines of the stream.
  static let client = FuzzTarget("client", maximumSize: 700) {
    let loop = EmbeddedEventLoop()
    return { bytes in
      SerialTasks.begin
      guard let first = bytes.first else { return }
      do {
        let client = try FuzzedClient(loop)
        try client.receive(FuzzPeer.frame(4, flags: 0, stream: 0, []))
        let rest = Array(bytes.dropFirst())
        let sent = first & 1 == 0 ? rest : client.head + FuzzPeer.frame(0, flags: 0, stream: 3, rest)
        let size = [1 << 20, 9, 61, 1][Int(first >> 6)]
        for start in stride(from: 0, to: sent.count, by: size) {
          try client.receive(Array(sent[start..<min(start + size, sent.count)]))
        }
        try client.close()
      } catch {
        preconditionFailure("\(error)")
      }
    }
  }
}

/// A client's connection on an embedded event loop.
private final class FuzzedClient {
  private let loop: EmbeddedEventLoop
  private let channel: EmbeddedChannel
  private let context: LoopContext
  /// The number of answers to the request and of ends of the stream.
  private var ends = 0
  private let connection: Connection

  /// A HEADERS frame with status 200 for the stream (RFC 7541 §6.1).
  let head = FuzzPeer.frame(1, flags: 4, stream: 3, [0x88])

  init(_ loop: EmbeddedEventLoop) throws {
    self.loop = loop
    context = LoopContext(eventLoop: loop)
    connection = try Connection(role: .client, loop: context, tls: nil, peer: .remote)
    let ready = loop.makePromise(of: NIOLoopBound<ClientCore>.self)
    let core = ClientCore(connection, authority: "localhost", ready: ready)
    core.attach()
    channel = EmbeddedChannel(handler: connection, loop: loop)
    channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1), promise: nil)
    core.request("GET", "/v1/health", [], body: []) { [self] _ in ends += 1 }
    core.stream("POST", "/v1/device/stream", [], isGathering: true) { [self] result in
      ends += 1
      guard let stream = try? result.get() else { return }
      Task { await FuzzedClient.read(stream) }
    }
    settle()
  }

  /// Reads the lines of a stream as a device does.
  private static func read(_ stream: LineStream) async {
    let parser = JSONParser(maximumDepth: JSONParser.maximumLineDepth)
    var iterator = stream.lines.makeAsyncIterator()
    while let lines = try? await iterator.next() {
      stream.taken(lines.count)
      precondition(lines.last == 0x0A, "lines are whole")
      for case .pushes(let batch) in DeviceEvent.events(
        in: lines, after: NumberedPosition(epoch: nil, seq: 0), parser: parser)
      {
        batch.forEachLine { _, line in _ = DevicePush(line: line, parser: parser) }
      }
    }
  }

  func receive(_ bytes: [UInt8]) throws {
    guard channel.isActive else { return }
    try channel.writeInbound(ByteBuffer(bytes: bytes))
    settle()
  }

  private func settle() {
    repeat { loop.run() } while SerialTasks.run()
    while let buffer = try? channel.readOutbound(as: ByteBuffer.self) { _ = buffer }
    precondition(connection.session.brokenInvariant() == nil, connection.session.brokenInvariant() ?? "")
  }

  /// Closes the connection. Each pending request completes exactly once.
  func close() throws {
    _ = try? channel.finish(acceptAlreadyClosed: true)
    settle()
    loop.advanceTime(by: .seconds(60))
    settle()
    precondition(ends == 2, "each request has one end")
    precondition(context.connections.isEmpty, "a connection that is over stays")
  }
}
