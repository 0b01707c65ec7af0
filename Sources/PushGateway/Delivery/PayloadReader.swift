import PushCore
import PushPolicy
import PushStorage

/// Parses payloads and caches recent ones: to compare a payload costs a thirtieth of parsing it.
///
/// One for each event loop; not `Sendable`.
final class PayloadReader {
  private let parser: JSONParser
  private var indexes = [PushContent?](repeating: nil, count: 64)

  init(parser: JSONParser) { self.parser = parser }

  /// Returns the parsed content of a payload.
  ///
  /// - Throws: ``PayloadError`` if it is not a JSON object.
  func content(of payload: [UInt8]) throws(PayloadError) -> PushContent {
    let index = Int(payload.span.sample & 63)
    if let known = indexes[index], payload.span.isSame(as: known.payload) { return known }
    let content = PushContent(payload: singleLine(payload), try parser.payload(payload.span))
    indexes[index] = content
    return content
  }

  /// Returns the parsed content of a payload whose request declares it as marketing: the declaration becomes the first
  /// member of the payload, which is then the same as one that contains it.
  ///
  /// - Throws: ``PayloadError`` if it is not a JSON object.
  func content(declaringMarketing payload: [UInt8]) throws(PayloadError) -> PushContent {
    let known = try content(of: payload)
    guard !known.parsed.isMarketing, let start = payload.firstIndex(of: UInt8(ascii: "{")) else { return known }
    let isEmpty = payload[(start + 1)...].first { $0 > 32 } == UInt8(ascii: "}")
    var declared = Array(payload[...start])
    declared += (isEmpty ? #""marketing":true"# : #""marketing":true,"#).utf8
    declared += payload[(start + 1)...]
    return try content(of: declared)
  }

  /// Returns the parsed content of a push.
  ///
  /// - Returns: nil if its payload can't be parsed: an earlier version accepted more deeply nested ones.
  func content(of push: StoredPush) -> PushContent? { push.content ?? (try? content(of: push.payload)) }
}

/// Replaces line breaks in JSON by spaces; valid JSON has line breaks only between tokens.
private func singleLine(_ json: [UInt8]) -> [UInt8] {
  guard json.holds(10) || json.holds(13) else { return json }
  return json.map { $0 == 10 || $0 == 13 ? 32 : $0 }
}
