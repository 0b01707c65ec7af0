import PushTesting
import Testing

@testable import HTTP2Transport

@Suite struct LivenessTests {
  @Test func `a peer that is heard gets one PING in an interval`() {
    var liveness = Liveness()
    let actions = (0..<6).map { _ in
      let action = liveness.tick()
      liveness.received()
      return action
    }
    #expect(actions == [.ping, .wait, .ping, .wait, .ping, .wait])
  }

  @Test(arguments: 0...3) func `a peer that is silent is given up within two intervals of its last sound`(_ heard: Int)
  {
    var liveness = Liveness()
    for _ in 0..<heard {
      _ = liveness.tick()
      liveness.received()
    }
    var actions: [Liveness.Action] = []
    while actions.last != .giveUp, actions.count < 9 { actions.append(liveness.tick()) }
    #expect(actions.last == .giveUp)
    // A tick is half an interval.
    #expect(actions.count <= 4)
    #expect(actions.count { $0 == .ping } == 2)
  }

  @Test func `a sound after the second PING is early enough`() {
    var liveness = Liveness()
    #expect(liveness.tick() == .ping)
    #expect(liveness.tick() == .ping)
    liveness.received()
    #expect(liveness.tick() == .wait)
    #expect(liveness.tick() == .ping)
  }
}
