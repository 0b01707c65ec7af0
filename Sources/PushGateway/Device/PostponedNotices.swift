import DequeModule
import PushCore

/// What a device that lags is to be told besides pushes: the newest choices, and the last pushes to retract.
///
/// Bounded, however long the device takes nothing: what it may not hear is that an old push is not to be shown any
/// longer, as if it had not been connected when that happened.
struct PostponedNotices {
  /// Retractions that are kept; beyond it the oldest are forgotten.
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
    // What the device subscribes to is looked up at once, and a stream that ends postpones nothing.
    case .channels, .revoked, .cutOff: break
    }
  }

  /// Everything that is kept, which is not kept any longer.
  mutating func take() -> [DeviceNotice] {
    defer { self = PostponedNotices() }
    return (preferences.map { [.preferences($0)] } ?? []) + retracted
  }

  /// What does not fit; nil when all does.
  func brokenInvariant() -> String? {
    retracted.count > PostponedNotices.maximumRetractions ? "\(retracted.count) retractions are kept" : nil
  }

  /// Ends a debug build in which something does not fit; a release build has no trace of this.
  func checkInvariants() { assert(brokenInvariant() == nil, brokenInvariant() ?? "") }
}
