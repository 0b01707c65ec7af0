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
