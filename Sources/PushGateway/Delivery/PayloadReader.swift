import PushCore
import PushPolicy
import PushStorage

/// Reads payloads, and remembers those that it read lately: to see that one is the same costs a thirtieth of reading it.
///
/// One for each loop; not `Sendable`.
final class PayloadReader {
  private let parser: JSONParser
  private var indexes = [PushContent?](repeating: nil, count: 64)

  init(parser: JSONParser) { self.parser = parser }

  /// What a payload says.
  ///
  /// - Throws: ``PayloadError`` when it is not a JSON object.
  func content(of payload: [UInt8]) throws(PayloadError) -> PushContent {
    let index = Int(payload.span.sample & 63)
    if let known = indexes[index], payload.span.isSame(as: known.payload) { return known }
    let content = PushContent(payload: singleLine(payload), try parser.payload(payload.span))
    indexes[index] = content
    return content
  }

  /// What a push says.
  ///
  /// - Returns: nil when its payload can't be read: an earlier version accepted deeper ones.
  func content(of push: StoredPush) -> PushContent? { push.content ?? (try? content(of: push.payload)) }
}

/// The JSON without line breaks, which valid JSON has only between its tokens.
private func singleLine(_ json: [UInt8]) -> [UInt8] {
  guard json.holds(10) || json.holds(13) else { return json }
  return json.map { $0 == 10 || $0 == 13 ? 32 : $0 }
}
