/// A function that takes bytes from outside, for the fuzzer and the tests. It returns for any bytes, and traps if a
/// condition is violated.
struct FuzzTarget: Sendable {
  /// The name, also of the folder with its inputs in `Tests/FuzzCorpus`.
  let name: String
  /// The maximum size in bytes of an input from the fuzzer.
  let maximumSize: Int
  /// Prepares the target once, and returns the function to call with each input.
  let prepare: @Sendable () throws -> ([UInt8]) -> Void

  init(_ name: String, maximumSize: Int = 1024, _ prepare: @escaping @Sendable () throws -> ([UInt8]) -> Void) {
    self.name = name
    self.maximumSize = maximumSize
    self.prepare = prepare
  }

  /// All targets, in the order in which the gateway and the client read such data.
  static let all: [FuzzTarget] = [
    payload, detector, choices, quietHours, token, certificate, deviceLine, gatewayLine, terminalText, keys, json,
    plainWords, configuration, faultFile, pattern, message, foreignMessage, hook, webPush, session, requests, scheduled,
    stream, http1, client, rows, pages, backup,
    brokerAnswer, cellMailbox, cellLog, cellPeers, cellSnapshot,
  ]
}
