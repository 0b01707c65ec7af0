import PushCore
package import PushPolicy

/// A push with an encrypted text: an encrypted Web Push message in the payload of a push. Only its device can decrypt it.
///
/// The gateway decides about it by the parts outside of the encryption: an alert with a fixed text, a sound, and the
/// level of the sender's urgency. The device replaces them by the decrypted message.
package struct WebPushEnvelope: Sendable, Equatable {
  /// The tag of the endpoint (``tag(of:)``), by which the device finds its keys.
  package var endpoint: String
  /// The encrypted message (`aes128gcm`).
  package var content: [UInt8]
  package var level: InterruptionLevel
  /// True if a push with the sender's urgency has a sound.
  package var hasSound: Bool
  /// True if the app holds back advertising, which only the device can detect.
  package var holdsAds: Bool

  package init(endpoint: String, content: [UInt8], level: InterruptionLevel, hasSound: Bool, holdsAds: Bool) {
    (self.endpoint, self.content, self.level) = (endpoint, content, level)
    (self.hasSound, self.holdsAds) = (hasSound, holdsAds)
  }

  /// The text of the alert on a device without the keys of the endpoint.
  package static let placeholder = "Encrypted message"

  /// The number of characters of a tag.
  private static let tagSize = 16

  /// Returns the tag of an endpoint: the beginning of the hash of its id, which is in the path of its address.
  package static func tag(of id: String) -> String { String(Digest.hex(Digest.sha256(Array(id.utf8))).prefix(tagSize)) }

  /// The payload of the push. The tag comes last, so that a device finds it without a parser.
  package var payload: [UInt8] {
    var json = Array(#"{"aps":{"alert":{"body":""#.utf8) + WebPushEnvelope.placeholder.utf8
    json += #""},"interruption-level":"\#(level.rawValue)","mutable-content":1"#.utf8
    if hasSound { append(#","sound":"default""#, to: &json) }
    append(#"},"web_push":{"#, to: &json)
    if holdsAds { append(#""hold_ads":true,"#, to: &json) }
    json += #""content":"\#(Base64URL.encode(content))""#.utf8
    return json + WebPushEnvelope.tagOpening.utf8 + endpoint.utf8 + WebPushEnvelope.payloadEnd.utf8
  }

  private static let tagOpening = #","endpoint":""#
  private static let payloadEnd = #""}}"#

  /// Returns the tag at the end of the line of a push; nil for the line of any other push. The work does not depend on the
  /// size of the line.
  package static func tag(endingIn line: ArraySlice<UInt8>) -> String? {
    let end = payloadEnd + "}"
    let rest = line.dropLast(end.utf8.count)
    guard line.suffix(end.utf8.count).elementsEqual(end.utf8),
      rest.suffix(tagSize + tagOpening.utf8.count).starts(with: tagOpening.utf8)
    else { return nil }
    return String(decoding: rest.suffix(tagSize), as: UTF8.self)
  }

  /// Reads the payload of a push; nil if it is not an envelope.
  package init?(_ payload: JSONElement) {
    guard let part = payload["web_push"], let endpoint = part["endpoint"]?.string,
      let text = part["content"]?.string, let content = Base64URL.decode(text.utf8)
    else { return nil }
    let aps = payload["aps"]
    self.init(
      endpoint: endpoint, content: content,
      level: aps?["interruption-level"]?.string.flatMap(InterruptionLevel.init) ?? .active,
      hasSound: aps?["sound"]?.kind == .string, holdsAds: part["hold_ads"]?.boolean ?? false)
  }
}
