import GatewayProtocol
import PushCore
import PushStorage

/// A topic of a request, split into its parts (reference §2.3). Immutable and shared, since every push needs it.
final class NamedTopic: Sendable {
  /// The topic as sent, with its suffix.
  let text: String
  /// The topic without its suffix.
  let bundleID: String
  let suffixType: PushType?
  /// The team of its app; nil if keys of every team may push to it, or if there is no such app.
  let team: String?

  init(_ text: String, registrations: any Registrations) {
    self.text = text
    (bundleID, suffixType) = PushType.split(topic: text)
    team = registrations.hasApp(topic: bundleID) ? (try? registrations.app(topic: bundleID))?.team : nil
  }
}

/// A cache of parsed topics: a provider sends the same one in push after push.
///
/// Belongs to one event loop.
final class TopicCache {
  private struct Entry {
    var bytes: [UInt8]
    var topic: NamedTopic
    /// The generation of the keys at the time of the team's lookup.
    var generation: UInt64
  }

  private let registrations: any Registrations
  private var entries = [Entry?](repeating: nil, count: 64)

  init(registrations: any Registrations) { self.registrations = registrations }

  /// - Throws: `BadTopic` for an invalid topic.
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

  /// Returns a topic that a credential names instead of the request.
  func named(_ text: String) -> NamedTopic { NamedTopic(text, registrations: registrations) }
}
