import Testing

@testable import pushcli

@Suite struct AbsenceTests {
  let start = ContinuousClock.now
  let failure = CommandFailure(.unreachable, "no gateway runs here")

  @Test func `a gateway of this machine is waited for as long as a restart takes`() {
    var absence = Absence(isLocal: true)
    #expect(throws: Never.self) {
      try absence.note(failure, at: start)
      try absence.note(failure, at: start + .seconds(119))
    }
    let error = #expect(throws: CommandFailure.self) { try absence.note(failure, at: start + .seconds(120)) }
    #expect(error?.exit == .unreachable)
    #expect(error?.message == "waited 120 seconds for the gateway: no gateway runs here")
  }

  @Test func `an answer ends the absence`() {
    var absence = Absence(isLocal: true)
    #expect(throws: Never.self) {
      try absence.note(failure, at: start)
      absence.end()
      try absence.note(failure, at: start + .seconds(120))
      try absence.note(failure, at: start + .seconds(239))
    }
  }

  @Test func `a gateway elsewhere may be away for any time`() {
    var absence = Absence(isLocal: false)
    #expect(throws: Never.self) {
      for hour in 0...24 { try absence.note(failure, at: start + .seconds(hour * 3600)) }
    }
  }
}
