import GatewayProtocol
import Testing

@testable import pushcli

@Suite struct PhoneStateTests {
  @Test func `a push replaces the one with its collapse id, in the center and among the alerts`() {
    let phone = Sample.phone([
      .push(Sample.push(1, alert: Sample.dinner, collapse: "score")), .push(Sample.push(2, alert: Sample.done)),
      .push(Sample.push(3, alert: Sample.earthquake, collapse: "score")),
      .push(Sample.push(4, Sample.mail, alert: Sample.done, collapse: "score")),
    ])
    #expect(phone.alerts.map(\.id) == ["push-3", "push-2", "push-4"])
    #expect(phone.state.entries.map(\.push.id) == ["push-2", "push-3", "push-4"])
  }

  @Test func `a replacement without an alert takes the alert away`() {
    var phone = Sample.phone([.push(Sample.push(1, alert: Sample.dinner, collapse: "score"))])
    phone.happens(.push(Sample.push(2, badge: 4, collapse: "score")))
    #expect(phone.alerts.isEmpty)
    #expect(phone.state.entries.map(\.push.id) == ["push-2"])
  }

  @Test func `what is over elsewhere stays in the center, read`() {
    var phone = Sample.phone([.push(Sample.push(1, alert: Sample.dinner)), .push(Sample.push(2, alert: Sample.done))])
    phone.happens(.retract(id: "push-1"))
    #expect(phone.alerts.map(\.id) == ["push-2"])
    #expect(phone.state.entries.map(\.isRead) == [true, false])
    #expect(phone.state.unreadCount == 1)
  }

  @Test func `the center is bounded, and keeps the newest`() {
    var state = PhoneState()
    let count = PhoneState.maximumEntries + 1_000
    for seq in 1...count { state.apply(.received(Sample.push(UInt64(seq), badge: 1))) }
    #expect(state.entries.count == PhoneState.maximumEntries)
    #expect(state.entries.last?.push.seq == UInt64(count))
    #expect(state.index(of: state.entries[17].ordinal) == 17)
    #expect(state.index(of: 1) == nil)
  }

  @Test func `restored entries return to their places, once and within the limit`() {
    var state = PhoneState()
    for seq in 1...UInt64(6) { state.apply(.received(Sample.push(seq, badge: 1))) }
    let all = state.entries
    state.apply(.cleared([1, 3, 4, 6]))
    state.apply(.restored([all[3], all[0], all[1]]))
    state.apply(.restored([all[5]]))
    state.apply(.restored([all[5], all[2]]))
    #expect(state.entries == all)

    // A journal has one line for each restored entry.
    for seq in 7...UInt64(PhoneState.maximumEntries) { state.apply(.received(Sample.push(seq, badge: 1))) }
    let full = state.entries
    state.apply(.cleared(full.map(\.ordinal)))
    for entry in full { state.apply(.restored([entry])) }
    #expect(state.entries.map(\.ordinal) == full.map(\.ordinal))
    state.apply(.cleared([1]))
    state.apply(.received(Sample.push(UInt64(PhoneState.maximumEntries) + 1, badge: 1)))
    state.apply(.restored([full[0]]))
    #expect(state.entries.count == PhoneState.maximumEntries && state.entries.first?.ordinal == 2)
  }

  @Test func `what a gateway says to have dropped is counted up to a bound`() {
    var state = PhoneState()
    for dropped in [3, -5, 0, Int.min] { state.apply(.gap(dropped: dropped)) }
    #expect(state.droppedCount == 3)
    for _ in 1...3 { state.apply(.gap(dropped: .max)) }
    #expect(state.droppedCount == PhoneState.maximumDropped)
    state.apply(.gapNoted)
    #expect(state.droppedCount == 0)
  }

  @Test func `a push with nothing to present leaves only its number`() {
    let phone = Sample.phone([.push(Sample.push(5))])
    #expect(phone.state.entries.isEmpty && phone.state.lastSeq == 5)
  }
}
