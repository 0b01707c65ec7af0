import Foundation
import GatewayProtocol

/// Tells pushes apart whatever their numbers are: two of one id were not received at one time.
struct PushKey: Hashable, Sendable {
  private let id: String
  private let topic: String
  private let received: Date

  init(_ push: DevicePush) { (id, topic, received) = (push.id, push.topic, push.received) }
}

/// The last pushes without a number, which come to each screen of a device.
struct PassingPushes: Sendable {
  /// How many are remembered at least.
  private static let minimumCount = 500

  private var keys: Set<PushKey> = []
  private var formerKeys: Set<PushKey> = []

  /// Whether a push has a number, or comes for the first time; it is remembered.
  mutating func isNew(_ push: DevicePush) -> Bool {
    guard push.seq == 0 else { return true }
    let key = PushKey(push)
    guard !keys.contains(key), !formerKeys.contains(key) else { return false }
    if keys.count >= PassingPushes.minimumCount { (formerKeys, keys) = (keys, []) }
    keys.insert(key)
    return true
  }
}
