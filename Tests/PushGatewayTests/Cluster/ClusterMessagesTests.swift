import PushPolicy
import PushTesting
import Testing

@testable import PushCore
@testable import PushGateway
@testable import PushStorage

/// The messages between gateways of a cluster about devices that may move.
@Suite struct ClusterMessagesTests {
  private let hub = ClusterHub()

  @Test func `a push with actions that another gateway sent is known here, and the oldest is forgotten`() throws {
    let (one, other) = (hub.cluster("a"), hub.cluster("b"))
    let remote = RemotePushes(capacity: 2)
    try SentPushMessages(cluster: other).join(remote)
    for number in [1, 2, 2, 3] {
      SentPushMessages(cluster: one).publish(.number(number), of: 3, category: "question", to: 7, at: 1_700_000_000_000)
    }
    #expect(remote.push(.number(1), of: 7) == nil && remote.push(.number(2), of: 8) == nil)
    let push = try #require(remote.push(.number(2), of: 7))
    #expect(push.app == 3 && push.category == "question")
    // Invalid messages have no effect.
    let long = String(repeating: "c", count: Limits.maximumCategorySize + 1)
    for text in [
      "", "{}", "[]", #"{"device":7,"app":3,"id":"x","category":"c","at":0}"#,
      #"{"device":7,"app":3,"id":"\#(APNSID.number(4))","category":"\#(long)","at":0}"#,
    ] {
      one.publish("sent", Array(text.utf8))
    }
    #expect(remote.push(.number(3), of: 7) != nil && remote.push(.number(4), of: 7) == nil)
  }

  @Test(.timeLimit(.minutes(5))) func `alerts of the hour are handed over to where a device arrives`() async throws {
    let clock = WallClock { 7_200_000 }
    let (conditions, clusters) = ([DeviceConditions(), DeviceConditions()], [hub.cluster("a"), hub.cluster("b")])
    for (conditions, cluster) in zip(conditions, clusters) {
      try AlertHandover(conditions: conditions, clock: clock, isKnown: { _, app in app != 4 }).join(cluster)
    }
    let there = conditions[0].alerts(on: 7, at: 0)
    for (number, time) in [(1, 3_600_000), (2, 3_601_000), (3, 7_000_000)] {
      there.note(.number(number), of: 3, at: Int64(time))
    }
    AlertHandover.announce(clusters[1], 7)
    await eventually { conditions[1].recentAlerts(on: 7, at: 7_200_000).count == 2 }
    #expect(conditions[1].recentAlerts(on: 7, at: 7_200_000).map(\.id) == [.number(2), .number(3)])
    #expect(conditions[1].recentAlerts(on: 8, at: 7_200_000).isEmpty)
  }

  @Test(.timeLimit(.minutes(5))) func `alerts of an unknown app take no memory`() async throws {
    let (conditions, clusters) = (DeviceConditions(), [hub.cluster("a"), hub.cluster("b")])
    let clock = WallClock { 7_200_000 }
    try AlertHandover(conditions: conditions, clock: clock, isKnown: { _, app in app != 4 }).join(clusters[0])
    for (device, app) in [(7, 4), (8, 3)] {
      let alert = #"{"app":\#(app),"id":"\#(APNSID.number(1))","at":7000000}"#
      let message = Array(#"{"device":\#(device),"alerts":[\#(alert)]}"#.utf8)
      _ = await clusters[1].ask(clusters[0].gateway, "alerts", message, within: .seconds(60))
    }
    #expect(conditions.recentAlerts(on: 8, at: 7_200_000).count == 1)
    #expect(conditions.count == 1)
  }
}
