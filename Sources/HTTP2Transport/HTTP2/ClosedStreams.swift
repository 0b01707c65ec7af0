/// The numbers of the streams that ended last, and who ended them: what may still come on one depends on it (RFC 9113 §5.1).
struct ClosedStreams {
  enum End: Equatable {
    /// The gateway reset it: its peer may not know that yet.
    case ours
    /// The peer reset it.
    case reset
    /// Both have said all.
    case whole
  }

  /// How many are remembered: as many as a client may mix up, for 64 bytes of each connection.
  static let capacity = 16

  /// Stream numbers, which are odd: negative where it was reset, and even where the peer did so; 0 where there was none.
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

  /// Who ended a stream; nil when it is not remembered.
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
