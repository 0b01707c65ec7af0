import GatewayProtocol
import PushCore

/// A topic as a request names it, taken apart (reference §2.3). Immutable and shared, since every push asks for it.
final class NamedTopic: Sendable {
  /// As sent, with its suffix.
  let text: String
  /// Without the suffix.
  let bundleID: String
  /// The kind of push that the suffix stands for.
  let suffixType: PushType?

  init(_ text: String) {
    self.text = text
    (bundleID, suffixType) = PushType.split(topic: text)
  }
}

/// Topics that were taken apart lately: a provider names the same one in push after push.
///
/// Belongs to one loop.
final class TopicMemory {
  private struct Entry {
    var bytes: [UInt8]
    var topic: NamedTopic
  }

  private var entries = [Entry?](repeating: nil, count: 64)

  /// - Throws: `BadTopic` for what is no topic.
  func topic(_ bytes: Span<UInt8>) throws(Rejection) -> NamedTopic {
    let place = (bytes.count &* 7 &+ Int(bytes.isEmpty ? 0 : bytes[bytes.count - 1])) & 63
    if let entry = entries[place], bytes.isSame(as: entry.bytes) { return entry.topic }
    let bytes = [UInt8](bytes)
    guard Topic.isWellFormed(bytes) else { throw Rejection(.badTopic) }
    let topic = NamedTopic(String(decoding: bytes, as: UTF8.self))
    entries[place] = Entry(bytes: bytes, topic: topic)
    return topic
  }
}
