/// The numbers of the streams that ended last, and who ended them: what may still come on one depends on it (RFC 9113 §5.1).
struct ClosedStreams {
  enum End: Equatable {
    /// The gateway reset it: its peer may not know that yet.
    case ours
    /// The peer has said all, or reset it.
    case peers
  }

  /// How many are remembered: as many as a client may mix up, for 64 bytes of each connection.
  static let capacity = 16

  /// Stream numbers, negative where the gateway reset it; 0 where there was none yet.
  private var numbers = [16 of Int32](repeating: 0)
  private var next = 0

  mutating func note(_ id: Int32, isOurs: Bool) {
    numbers[next] = isOurs ? -id : id
    next = (next + 1) % ClosedStreams.capacity
  }

  /// Who ended a stream; nil when it is not remembered.
  func end(of id: Int32) -> End? {
    for index in numbers.indices {
      if numbers[index] == id { return .peers }
      if numbers[index] == -id { return .ours }
    }
    return nil
  }
}
