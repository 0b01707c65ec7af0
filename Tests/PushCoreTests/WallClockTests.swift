import Testing

@testable import PushCore

@Suite struct ServicesTests {
  @Test func `seconds are whole milliseconds by a thousand`() {
    #expect(WallClock { 1999 }.seconds == 1)
    #expect(WallClock.system.milliseconds() > 1_700_000_000_000)
  }
}
