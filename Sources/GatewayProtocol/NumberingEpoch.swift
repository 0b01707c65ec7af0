import PushCore
import PushPolicy

/// The name of a numbering of pushes. A gateway of another numbering can't interpret its numbers.
///
/// A gateway with its own database has none. A cluster has one from its creation on.
package struct NumberingEpoch: Hashable, Sendable, CustomStringConvertible {
  package let description: String

  /// Reads a name.
  ///
  /// - Returns: nil for an invalid name. A name has 1 to ``Limits/maximumEpochSize`` printable ASCII characters,
  ///   without spaces, quotes and backslashes.
  package init?(_ text: String) {
    guard (1...Limits.maximumEpochSize).contains(text.utf8.count),
      text.utf8.allSatisfy({ (0x21..<0x7F).contains($0) && !"\"\\".utf8.contains($0) })
    else { return nil }
    description = text
  }

  init?(_ element: JSONElement?) {
    guard let epoch = element?.string.flatMap(NumberingEpoch.init) else { return nil }
    self = epoch
  }
}

/// A number of a push with its numbering, in the form of the event ids of a stream of events.
package struct NumberedPosition: Equatable, Sendable, CustomStringConvertible {
  package var epoch: NumberingEpoch?
  package var seq: UInt64

  package init(epoch: NumberingEpoch?, seq: UInt64) { (self.epoch, self.seq) = (epoch, seq) }

  /// Reads `EPOCH:SEQ`, or `SEQ` of a gateway that has no epoch.
  package init?(_ text: String) {
    guard let colon = text.lastIndex(of: ":") else {
      guard let seq = UInt64(text) else { return nil }
      self.init(epoch: nil, seq: seq)
      return
    }
    guard let epoch = NumberingEpoch(String(text[..<colon])), let seq = UInt64(text[text.index(after: colon)...]) else {
      return nil
    }
    self.init(epoch: epoch, seq: seq)
  }

  package var description: String { epoch.map { "\($0):\(seq)" } ?? "\(seq)" }
}
