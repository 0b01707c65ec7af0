import Foundation
import GatewayProtocol

/// Identifies a push independently of its number. Two pushes with the same ID have different times of receipt.
struct PushKey: Hashable, Sendable {
  private let id: String
  private let topic: String
  private let received: Date

  init(_ push: DevicePush) { (id, topic, received) = (push.id, push.topic, push.received) }
}

/// The latest pushes without a number, which every screen of a device receives.
struct PassingPushes: Sendable {
  /// The minimum number of pushes that are remembered.
  private static let minimumCount = 500

  private var keys: Set<PushKey> = []
  private var formerKeys: Set<PushKey> = []

  /// Returns true if the push has a number or arrives for the first time, and remembers it.
  mutating func isNew(_ push: DevicePush) -> Bool {
    guard push.seq == 0 else { return true }
    let key = PushKey(push)
    guard !keys.contains(key), !formerKeys.contains(key) else { return false }
    if keys.count >= PassingPushes.minimumCount { (formerKeys, keys) = (keys, []) }
    keys.insert(key)
    return true
  }
}
