import Foundation

/// The public name of a broadcast channel: 16 random bytes, sent in standard base64 (reference §8.2).
package struct ChannelID: Sendable, Hashable, Comparable, CustomStringConvertible {
  private var words: (UInt64, UInt64)

  package static let size = 16
  /// The number of characters of the base64 text, padding included.
  package static let textSize = 24

  package static func random() -> ChannelID {
    guard let id = ChannelID(bytes: randomBytes(count: size)) else { preconditionFailure("an id has 16 bytes") }
    return id
  }

  /// - Returns: nil unless there are exactly 16 bytes.
  package init?(bytes: some Collection<UInt8>) {
    guard bytes.count == ChannelID.size else { return nil }
    var iterator = bytes.makeIterator()
    func word() -> UInt64 { (0..<8).reduce(0) { value, _ in value << 8 | UInt64(iterator.next() ?? 0) } }
    words = (word(), word())
  }

  /// Reads the base64 text; nil for any text that does not encode 16 bytes.
  package init?(_ text: some Collection<UInt8>) {
    guard text.count == ChannelID.textSize, let data = Data(base64Encoded: Data(text)) else { return nil }
    self.init(bytes: data)
  }

  package var bytes: [UInt8] {
    [words.0, words.1].flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * $0)) } }
  }

  package var description: String { Data(bytes).base64EncodedString() }

  /// Compares the bytes.
  package static func < (one: ChannelID, other: ChannelID) -> Bool { one.words < other.words }

  package static func == (one: ChannelID, other: ChannelID) -> Bool { one.words == other.words }

  package func hash(into hasher: inout Hasher) {
    // The bytes are random, so that a part of them is a good hash.
    hasher.combine(words.0)
  }
}
