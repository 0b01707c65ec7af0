import GatewayProtocol

/// The part of a gateway's line that a load test needs; unlike ``GatewayLine``, it is read without a parser.
///
/// A push is recognized by its first bytes, since nearly every line is a push. A load test ignores other types of
/// lines.
enum LoadLine: Equatable {
  case push(seq: UInt64)
  case welcome
  case caughtUp
  case gap(dropped: Int)

  /// - Parameter line: A line of the gateway, without its newline.
  init?(_ line: UnsafeRawBufferPointer) {
    let bytes = unsafe line.assumingMemoryBound(to: UInt8.self)
    if let seq = unsafe GatewayLine.numberOfPush(bytes.span) {
      self = .push(seq: seq)
      return
    }
    let text = unsafe String(decoding: line, as: UTF8.self)
    if text.hasPrefix(#"{"type":"welcome""#) {
      self = .welcome
    } else if text.hasPrefix(#"{"type":"caught-up""#) {
      self = .caughtUp
    } else if text.hasPrefix(#"{"type":"gap""#), let match = text.firstRange(of: #""dropped":"#) {
      self = .gap(dropped: Int(text[match.upperBound...].prefix { $0.isNumber }) ?? 0)
    } else {
      return nil
    }
  }
}
