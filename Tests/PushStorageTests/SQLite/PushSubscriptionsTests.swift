import GRDB
import PushPolicy
import PushTesting
import Testing

@testable import PushCore
@testable import PushStorage

@Suite struct PushSubscriptionsTests {
  private let folder: TemporaryFolder
  private let store: SQLiteStore
  private let subscriptions: PushSubscriptions
  private let key: [UInt8]

  init() throws {
    folder = try TemporaryFolder()
    store = try SQLiteStore(path: folder.file("push.sqlite"))
    subscriptions = try PushSubscriptions(store: store)
    key = try ES256Key.generate().publicPoint
  }

  private func subscription(
    _ device: DeviceID, _ endpoint: String = "https://push.example/1", created: Int64 = 1
  ) -> PushSubscription {
    PushSubscription(
      device: device, endpoint: endpoint, key: key, secret: [UInt8](repeating: 7, count: 16),
      origin: "https://gateway.example", created: created)
  }

  /// The subscriptions of this program, and of the next one that opens the database.
  private func both() throws -> [PushSubscriptions] { [subscriptions, try PushSubscriptions(store: store)] }

  @Test func `a subscription is found, also by the next program that opens the database`() async throws {
    var one = subscription(3)
    one.allowsQuiet = true
    one.state.isSilent = true
    one.state.focus = "work"
    try await subscriptions.put(one)
    for subscriptions in try both() {
      #expect(subscriptions.find(3) == one && subscriptions.find(4) == nil)
      #expect(subscriptions.count == 1)
      #expect(subscriptions.filter([2, 3, 4] as [DeviceID]) { $0 } == [3])
    }
  }

  @Test func `a device has one subscription, and an endpoint belongs to one device`() async throws {
    try await subscriptions.put(subscription(3))
    try await subscriptions.put(subscription(3, "https://push.example/2"))
    try await subscriptions.put(subscription(4))
    for subscriptions in try both() { #expect(subscriptions.count == 2) }
    // The browser has become another device.
    try await subscriptions.put(subscription(4, "https://push.example/2"))
    for subscriptions in try both() {
      #expect(subscriptions.find(3) == nil && subscriptions.count == 1)
      #expect(subscriptions.find(4)?.endpoint == "https://push.example/2")
    }
  }

  @Test func `an unchanged subscription is not written`() async throws {
    try await subscriptions.put(subscription(3))
    try await subscriptions.put(subscription(3, created: 9))
    for subscriptions in try both() { #expect(subscriptions.find(3)?.created == 1) }
  }

  @Test func `a refused subscription gets no messages until the page subscribes again`() async throws {
    try await subscriptions.put(subscription(3))
    try await subscriptions.refuse(subscription(3, "https://push.example/other"), status: 403)
    #expect(subscriptions.refused.isEmpty)
    try await subscriptions.refuse(subscription(3), status: 403)
    for subscriptions in try both() {
      #expect(subscriptions.find(3)?.refused == 403)
      #expect(subscriptions.refused.map(\.device) == [3])
      #expect(subscriptions.filter([3] as [DeviceID]) { $0 }.isEmpty)
    }
    try await subscriptions.put(subscription(3))
    for subscriptions in try both() { #expect(subscriptions.find(3)?.refused == nil) }
  }

  @Test func `only the subscription that ended is removed`() async throws {
    try await subscriptions.put(subscription(3, "https://push.example/2"))
    try await subscriptions.remove(3, endpoint: "https://push.example/1")
    #expect(subscriptions.count == 1)
    try await subscriptions.remove(3, endpoint: "https://push.example/2")
    try await subscriptions.remove(3)
    for subscriptions in try both() { #expect(subscriptions.count == 0) }
  }

  @Test func `the key is made once, and the next program has the same`() async throws {
    let made = try await subscriptions.key().publicPoint
    let again = try await subscriptions.key().publicPoint
    let next = try await PushSubscriptions(store: store).key().publicPoint
    #expect(again == made && next == made)
  }

  @Test(arguments: ["a new secret", "a removal", "the removal of a batch"])
  func `a subscription leaves in the transaction that revokes the secret`(_ cause: String) async throws {
    let registrations = try SQLiteRegistrations(store: store)
    let (device, _) = try await registrations.enroll(name: "load-1", person: nil, by: .anyPerson)
    let (other, _) = try await registrations.enroll(name: "phone", person: nil, by: .anyPerson)
    try await subscriptions.put(subscription(device.id))
    try await subscriptions.put(subscription(other.id, "https://push.example/2"))
    switch cause {
    case "a new secret": _ = try await registrations.rotateSecret(of: device.id)
    case "a removal": _ = try await registrations.remove(device.id, now: 1)
    default: _ = try await registrations.remove(batch: "load")
    }
    let next = try PushSubscriptions(store: store)
    #expect(next.find(device.id) == nil && next.find(other.id) != nil)
    subscriptions.forget([device.id])
    #expect(subscriptions.find(device.id) == nil && subscriptions.count == 1)
  }
}
