import ArgumentParser
import Testing

@testable import pushcli

@Suite struct CommandReportTests {
  private func report(
    _ words: [String], _ end: ChildCommand.End, _ time: Duration = .seconds(12), _ lines: [String] = []
  ) -> CommandReport {
    CommandReport(command: words, end: end, time: time, lines: lines)
  }

  private func body(_ report: CommandReport) -> String { report.body(below: report.title) }

  @Test func `a push says what ran, how it ended and how long it took`() {
    let done = report(["make", "test"], .exited(0), .seconds(185))
    #expect((done.title, body(done), done.sound) == ("Done: make test", "Exit status 0 after 3 min 5 s.", "success"))
    let failed = report(["make", "test"], .exited(2))
    #expect((failed.title, body(failed), failed.sound) == ("Failed: make test", "Exit status 2 after 12 s.", "failure"))
    #expect(body(report(["x"], .signaled(9))) == "Ended by signal 9 after 12 s.")
  }

  @Test func `the last lines of the output come behind`() {
    #expect(body(report(["x"], .exited(1), .seconds(12), ["one", "two"])) == "Exit status 1 after 12 s.\none\ntwo")
  }

  @Test func `the body has the command where the title has not all of it`() {
    let words = ["rsync", "--archive", "--delete", "/home/", "backup:/srv/backups/home/"]
    let line = "$ rsync --archive --delete /home/ backup:/srv/backups/home/"
    #expect(body(report(words, .exited(0))) == "Exit status 0 after 12 s.\n" + line)
    #expect(report(["x"], .exited(0)).body(below: "Backup") == "Exit status 0 after 12 s.\n$ x")
    let long = body(report([String(repeating: "é", count: 900)], .exited(0))).split(separator: "\n")
    #expect(long[1].utf8.count == 2 + 1000 + 3 && long[1].hasSuffix("é…"))
  }

  @Test(arguments: ["x", "\"", "\\", "é", "👩‍👩‍👧‍👦"])
  func `a payload has room for what is sent`(_ text: String) throws {
    let lines = (1...20).map { _ in String(repeating: text, count: 160) }
    let report = report([String(repeating: text, count: 2000)], .exited(1), .seconds(12), lines)
    let payload = try PayloadContent(title: report.title, sound: report.sound).payload(body: body(report))
    #expect(payload.count <= 4096)
    #expect(payload.count > (text == "👩‍👩‍👧‍👦" ? 1000 : 3500))
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
