/// What takes bytes from outside, as the fuzzer and the tests call it: it returns, whatever the bytes are, and traps where
/// something is not as it must be.
struct FuzzTarget: Sendable {
  /// Also the folder of its inputs in `Tests/FuzzCorpus`.
  let name: String
  /// Bytes of the longest input that the fuzzer makes.
  let maximumSize: Int
  /// Makes what it needs, once, and returns what is called with each input.
  let prepare: @Sendable () throws -> ([UInt8]) -> Void

  init(_ name: String, maximumSize: Int = 1024, _ prepare: @escaping @Sendable () throws -> ([UInt8]) -> Void) {
    self.name = name
    self.maximumSize = maximumSize
    self.prepare = prepare
  }

  /// Every target, from what is read first to what is read last.
  static let all: [FuzzTarget] = [
    payload, detector, choices, quietHours, token, certificate, deviceLine, gatewayLine, terminalText, keys, json,
    configuration, faultFile, session, requests, stream, client,
    rows, pages, backup,
    brokerAnswer, cellMailbox, cellLog, cellPeers, cellSnapshot,
  ]
}
