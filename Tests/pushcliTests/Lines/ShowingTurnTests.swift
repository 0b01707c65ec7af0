import Testing

@testable import pushcli

@Suite(.timeLimit(.minutes(5))) struct ShowingTurnTests {
  @Test func `a stop without a push returns at once, and no push follows`() async {
    let turn = ShowingTurn(gracePeriod: .seconds(600))
    #expect(!turn.isStopping)
    await turn.stop()
    #expect(turn.isStopping && !turn.begin())
  }

  @Test func `a stop returns when the push is shown`() async {
    let turn = ShowingTurn(gracePeriod: .seconds(600))
    #expect(turn.begin())
    async let stop: Void = turn.stop()
    turn.end()
    await stop
    #expect(!turn.begin())
  }

  @Test func `a push that is never shown delays a stop by the grace period`() async {
    let turn = ShowingTurn(gracePeriod: .zero)
    #expect(turn.begin())
    await turn.stop()
    #expect(turn.isStopping)
  }
}
