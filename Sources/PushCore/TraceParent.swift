/// The `traceparent` of a sender (W3C Trace Context): the trace of a push, and the span that sent it.
package struct TraceParent: Sendable, Equatable {
  /// The received text: `00-` and 32, 16 and 2 hexadecimal digits in lower case.
  package let text: String

  private static let size = 55
  private static let hyphens = [2, 35, 52]

  /// Reads a `traceparent`; of a newer version only the fields of this version.
  ///
  /// - Returns: nil for an invalid `traceparent`, which the standard requires to be ignored.
  package init?(_ bytes: Span<UInt8>) {
    let version = bytes.count < 2 ? "ff" : String(decoding: [bytes[0], bytes[1]], as: UTF8.self)
    guard version != "ff", bytes.count == TraceParent.size || version != "00" && bytes.count > TraceParent.size,
      bytes.count == TraceParent.size || bytes[TraceParent.size] == UInt8(ascii: "-")
    else { return nil }
    var digits: [UInt8] = []
    for index in 0..<TraceParent.size { digits.append(bytes[index]) }
    for (index, byte) in digits.enumerated() {
      let isHyphen = TraceParent.hyphens.contains(index)
      guard isHyphen ? byte == UInt8(ascii: "-") : "0123456789abcdef".utf8.contains(byte) else { return nil }
    }
    let zero = UInt8(ascii: "0")
    guard !digits[3..<35].allSatisfy({ $0 == zero }), !digits[36..<52].allSatisfy({ $0 == zero }) else { return nil }
    text = String(decoding: digits, as: UTF8.self)
  }
}
