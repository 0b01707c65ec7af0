import Foundation

/// A gateway that this process has started. It ends when its standard input closes: with this object, or with the process.
///
/// `@unchecked Sendable`: its parts are set in `init`, and each of its functions is called by one task.
final class GatewayProcess: @unchecked Sendable {
  /// The line that the gateway prints when it is ready.
  struct Ready: Decodable {
    let apns: String
    let ca: String
    let http: String
  }

  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()

  private init(_ program: String, _ arguments: [String]) throws {
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = arguments
    process.standardInput = input
    process.standardOutput = output
    do {
      try process.run()
    } catch {
      throw PushGatewayError("\(program) can't be started: \(error.localizedDescription)")
    }
  }

  deinit { stop() }

  /// Closes the standard input of the gateway, which ends it.
  func stop() { try? input.fileHandleForWriting.close() }

  /// Starts a gateway, and returns when it is ready.
  static func start(_ program: String, options: [String]) async throws -> (GatewayProcess, Ready) {
    let gateway = try GatewayProcess(program, ["serve", "--test", "--json"] + options)
    let line = await gateway.line()
    guard let ready = try? JSONDecoder().decode(Ready.self, from: line) else {
      throw PushGatewayError(
        "`\(program) serve --test` printed no line that it is ready: its reason is on standard error")
    }
    return (gateway, ready)
  }

  /// Returns the first line of the output. A thread of its own reads it, because a read blocks.
  private func line() async -> Data {
    await withCheckedContinuation { continuation in
      Thread.detachNewThread { [self] in continuation.resume(returning: readLine()) }
    }
  }

  private func readLine() -> Data {
    var line = Data()
    while !line.contains(UInt8(ascii: "\n")) {
      let bytes = output.fileHandleForReading.availableData
      if bytes.isEmpty { break }
      line += bytes
    }
    return line
  }

  /// Returns the path of `pushcli`: `$PUSHCLI`, else the first `pushcli` of `$PATH`; nil without either.
  static func program(in environment: [String: String]) -> String? {
    if let named = environment["PUSHCLI"], !named.isEmpty { return named }
    return (environment["PATH"] ?? "").split(separator: ":").map { "\($0)/pushcli" }
      .first { FileManager.default.isExecutableFile(atPath: $0) }
  }
}
