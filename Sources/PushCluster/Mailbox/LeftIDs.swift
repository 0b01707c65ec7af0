import DequeModule
import PushCore
import PushStorage

/// The sender-chosen id of a deleted push: a push with the same id before `dueBy` is a retry.
struct LeftPush: Codable, Equatable, Sendable {
  var device: Int64
  var app: Int64
  var id: String
  /// The time until which a push with the id is a retry, in seconds since 1970.
  var dueBy: Int64

  enum CodingKeys: String, CodingKey {
    case device = "d"
    case app = "a"
    case id = "i"
    case dueBy = "t"
  }

  init(_ key: RecentIDs.Key, dueBy: Int64) {
    (device, app, id, self.dueBy) = (key.device.row, key.app.row, key.id.description, dueBy)
  }

  /// The key of the push; nil if the id is invalid.
  var key: RecentIDs.Key? {
    APNSID(id).map { RecentIDs.Key(device: DeviceID(row: device), app: AppID(row: app), id: $0) }
  }
}

/// The ids of pushes that have left, each until its time. Beyond the capacity the oldest are dropped first.
struct LeftIDs: Sendable {
  private let capacity: Int
  private var times: [RecentIDs.Key: Int64] = [:]
  private var order: Deque<RecentIDs.Key> = []

  init(capacity: Int = Limits.maximumRecentIDs) { self.capacity = capacity }

  var count: Int { times.count }

  /// Adds an id.
  ///
  /// - Parameters:
  ///   - dueBy: the time until which the id is kept, in seconds since 1970; at most
  ///     ``Limits/duplicateWindow`` from now.
  ///   - now: the time in seconds since 1970.
  /// - Returns: false when the id is known, or its time has passed.
  mutating func insert(_ key: RecentIDs.Key, dueBy: Int64, now: Int64) -> Bool {
    forget(now: now)
    let dueBy = min(dueBy, now + Int64(Limits.duplicateWindow))
    guard dueBy > now, times[key].map({ $0 <= now }) ?? true else { return false }
    if times.updateValue(dueBy, forKey: key) == nil { order.append(key) }
    return true
  }

  func contains(_ key: RecentIDs.Key, now: Int64) -> Bool { times[key].map { $0 > now } ?? false }

  /// Removes ids from the front. An expired id behind others may stay; ``contains(_:now:)`` ignores it.
  private mutating func forget(now: Int64) {
    while let first = order.first, order.count >= capacity || (times[first] ?? 0) <= now {
      order.removeFirst()
      times[first] = nil
    }
  }
}
