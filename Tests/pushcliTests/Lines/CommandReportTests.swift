import Testing

@testable import pushcli

@Suite struct CommandReportTests {
  private func report(_ words: [String], _ end: ChildCommand.End, _ time: Duration = .seconds(12)) -> CommandReport {
    CommandReport(command: words, end: end, time: time)
  }

  @Test func `a push says what ran, how it ended and how long it took`() {
    let done = report(["make", "test"], .exited(0), .seconds(185))
    #expect((done.title, done.body, done.sound) == ("Done: make test", "Exit status 0 after 3 min 5 s.", "success"))
    let failed = report(["make", "test"], .exited(2))
    #expect((failed.title, failed.body, failed.sound) == ("Failed: make test", "Exit status 2 after 12 s.", "failure"))
    #expect(report(["x"], .signaled(9)).body == "Ended by signal 9 after 12 s.")
  }

  @Test func `a title is one line of forty columns at most`() {
    let title = report(["sh", "-c", "echo one\necho " + String(repeating: "x", count: 100)], .exited(0)).title
    #expect(title.count == 40 && title.hasSuffix("…") && !title.contains("\n"))
  }

  @Test(
    arguments: [
      (.milliseconds(40), "0.0 s"), (.milliseconds(9_960), "10.0 s"), (.seconds(10), "10 s"),
      (.seconds(60), "1 min 0 s"),
      (.seconds(3_600), "1 h 0 min"), (.seconds(90_061), "25 h 1 min"),
    ] as [(Duration, String)])
  func `a time has the units that matter`(_ time: Duration, _ words: String) {
    #expect(CommandReport.words(of: time) == words)
  }

  @Test(
    arguments: [
      (0, .exited(0), 0), (3 << 8, .exited(3), 3), (255 << 8, .exited(255), 255), (9, .signaled(9), 137),
      (11 | 0x80, .signaled(11), 139),
    ] as [(Int32, ChildCommand.End, Int32)])
  func `an end is told as a shell tells it`(_ status: Int32, _ end: ChildCommand.End, _ code: Int32) {
    #expect(ChildCommand.end(status) == end)
    #expect(end.status == code)
  }

  @Test func `a command that there is not is 127, and what can't be run is 126`() {
    #expect(throws: CommandFailure.self) { try ChildCommand(words: ["/none/such"]).run() }
    do {
      _ = try ChildCommand(words: ["/none/such"]).run()
    } catch {
      #expect((error as? CommandFailure)?.code == 127)
    }
    do {
      _ = try ChildCommand(words: ["/etc/passwd"]).run()
    } catch {
      #expect((error as? CommandFailure)?.code == 126)
    }
  }
}
