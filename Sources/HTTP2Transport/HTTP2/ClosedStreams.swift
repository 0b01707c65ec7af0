/// The IDs of the most recently closed streams, and the side that closed them, which determines the frames that may
/// still arrive on them (RFC 9113 §5.1).
struct ClosedStreams {
  enum End: Equatable {
    /// The gateway reset it: its peer may not have received that yet.
    case ours
    /// The peer reset it.
    case reset
    /// Both sides ended it.
    case whole
  }

  /// The number of stored streams: as many as a client may confuse, in 64 bytes of each connection.
  static let capacity = 16

  /// The stream IDs, which are odd: negated for a reset stream, and negated minus one for a reset by the peer; 0 for
  /// an empty slot.
  private var numbers = [16 of Int32](repeating: 0)
  private var next = 0

  mutating func note(_ id: Int32, _ end: End) {
    numbers[next] =
      switch end {
      case .ours: -id
      case .reset: -id - 1
      case .whole: id
      }
    next = (next + 1) % ClosedStreams.capacity
  }

  /// Returns the end of a stream; nil if it is not stored.
  func end(of id: Int32) -> End? {
    guard id & 1 == 1 else { return nil }
    for index in numbers.indices {
      if numbers[index] == id { return .whole }
      if numbers[index] == -id { return .ours }
      if numbers[index] == -id - 1 { return .reset }
    }
    return nil
  }
}
