import DequeModule

/// The notices for a lagging device: the newest preferences, and the last retractions.
///
/// Bounded, however long the device does not read. The device may miss the retraction of an old push, as if it had
/// been offline at that time.
struct PostponedNotices {
  /// The maximum number of retractions; the oldest are evicted.
  static let maximumRetractions = 1000

  private var preferences: [UInt8]?
  private var retracted = Deque<DeviceNotice>()

  mutating func add(_ notice: DeviceNotice) {
    defer { checkInvariants() }
    switch notice {
    case .preferences(let json): preferences = json
    case .retract, .answered, .takenBack:
      retracted.append(notice)
      if retracted.count > PostponedNotices.maximumRetractions { retracted.removeFirst() }
    // Acknowledgements need no line, subscriptions are looked up at once, and a stream that ends has no use for them.
    case .acknowledged, .channels, .revoked, .cutOff: break
    }
  }

  mutating func take() -> [DeviceNotice] {
    defer { self = PostponedNotices() }
    return (preferences.map { [.preferences($0)] } ?? []) + retracted
  }

  /// Returns a description of the violated invariant; nil if all invariants hold.
  func brokenInvariant() -> String? {
    retracted.count > PostponedNotices.maximumRetractions ? "\(retracted.count) retractions are kept" : nil
  }

  /// Ends a debug build that violates an invariant; compiled out of release builds.
  func checkInvariants() { assert(brokenInvariant() == nil, brokenInvariant() ?? "") }
}
