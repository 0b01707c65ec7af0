import Glibc

/// The part of a gateway's line that a load test needs; unlike ``GatewayProtocol/GatewayLine``, it is read without a
/// parser.
///
/// A push is recognized by its first bytes, since nearly every line is a push. A load test ignores other types of
/// lines.
enum LoadLine: Equatable {
  case push(seq: UInt64)
  case welcome
  case caughtUp
  case gap(dropped: Int)

  private static let pushStart = Array(#"{"type":"push","seq":"#.utf8)

  /// - Parameter line: A line of the gateway, without its newline.
  init?(_ line: UnsafeRawBufferPointer) {
    if let start = line.baseAddress, line.count > LoadLine.pushStart.count,
      unsafe memcmp(start, LoadLine.pushStart, LoadLine.pushStart.count) == 0
    {
      self = .push(seq: unsafe LoadLine.number(line, at: LoadLine.pushStart.count))
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

  private static func number(_ line: UnsafeRawBufferPointer, at offset: Int) -> UInt64 {
    var value: UInt64 = 0
    var offset = offset
    while offset < line.count, case let digit = unsafe line[offset] &- UInt8(ascii: "0"), digit < 10 {
      value = value &* 10 &+ UInt64(digit)
      offset += 1
    }
    return value
  }
}
