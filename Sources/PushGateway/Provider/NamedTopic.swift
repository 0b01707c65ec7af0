import GatewayProtocol
import PushCore
import PushStorage

/// A topic as a request names it, taken apart (reference §2.3). Immutable and shared, since every push asks for it.
final class NamedTopic: Sendable {
  /// As sent, with its suffix.
  let text: String
  /// Without the suffix.
  let bundleID: String
  /// The kind of push that the suffix stands for.
  let suffixType: PushType?
  /// The team of its app; nil where keys of every team may push to it, and where there is no such app.
  let team: String?

  init(_ text: String, registrations: any Registrations) {
    self.text = text
    (bundleID, suffixType) = PushType.split(topic: text)
    team = registrations.hasApp(topic: bundleID) ? (try? registrations.app(topic: bundleID))?.team : nil
  }
}

/// Topics that were taken apart lately: a provider names the same one in push after push.
///
/// Belongs to one loop.
final class TopicCache {
  private struct Entry {
    var bytes: [UInt8]
    var topic: NamedTopic
    /// When its team was looked up.
    var generation: UInt64
  }

  private let registrations: any Registrations
  private var entries = [Entry?](repeating: nil, count: 64)

  init(registrations: any Registrations) { self.registrations = registrations }

  /// - Throws: `BadTopic` for what is no topic.
  func topic(_ bytes: Span<UInt8>) throws(Rejection) -> NamedTopic {
    let place = (bytes.count &* 7 &+ Int(bytes.isEmpty ? 0 : bytes[bytes.count - 1])) & 63
    let generation = registrations.keyGeneration
    if let entry = entries[place], entry.generation == generation, bytes.isSame(as: entry.bytes) { return entry.topic }
    let bytes = [UInt8](bytes)
    guard Topic.isWellFormed(bytes) else { throw Rejection(.badTopic) }
    let topic = named(String(decoding: bytes, as: UTF8.self))
    entries[place] = Entry(bytes: bytes, topic: topic, generation: generation)
    return topic
  }

  /// A topic that a credential names instead of the request.
  func named(_ text: String) -> NamedTopic { NamedTopic(text, registrations: registrations) }
}
