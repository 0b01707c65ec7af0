import Testing

@testable import PushGateway

@Suite struct BackupScheduleTests {
  /// 2026-11-23T02:24:51Z, a Monday.
  let now: Int64 = 1_795_400_691

  @Test(
    arguments: [
      ("daily, keep 7, to /var/backups/push", "daily, keep 7, to /var/backups/push"),
      ("hourly,keep 1000,to /b", "hourly, keep 1000, to /b"),
      (" weekly ,  keep  1 , to  /a folder, with words ", "weekly, keep 1, to /a folder, with words"),
    ])
  func `a schedule is read`(_ text: String, _ written: String) {
    let schedule = BackupSchedule(text)
    #expect(schedule?.text == written)
    #expect(BackupSchedule(written) == schedule)
  }

  @Test(
    arguments: [
      "", "none", "daily", "daily, keep 7", "daily, keep 0, to /b", "daily, keep 1001, to /b", "daily, keep x, to /b",
      "daily, keep 7, to b", "daily, keep 7, to", "yearly, keep 7, to /b", "daily keep 7 to /b",
      "daily, keep -1, to /b",
      "daily, keep 99999999999999999999, to /b", "daily, to /b, keep 7",
    ])
  func `what is none is refused`(_ text: String) { #expect(BackupSchedule(text) == nil) }

  @Test(
    arguments: [
      (.hourly, "pushgateway-20261123T020000Z.backup"), (.daily, "pushgateway-20261123T000000Z.backup"),
      (.weekly, "pushgateway-20261123T000000Z.backup"),
    ] as [(BackupSchedule.Interval, String)])
  func `an interval begins at a round time, UTC`(_ interval: BackupSchedule.Interval, _ name: String) {
    let beginning = interval.beginning(of: now)
    #expect(BackupSchedule.name(at: beginning) == name)
    #expect(interval.beginning(of: beginning) == beginning)
    #expect(interval.beginning(of: beginning - 1) < beginning - 1)
    #expect(BackupSchedule.time(of: name) == beginning)
    #expect(interval.beginning(of: -1) < 0)
  }

  @Test func `a week begins on Monday`() {
    // 2026-11-22 was a Sunday.
    #expect(
      BackupSchedule.name(at: BackupSchedule.Interval.weekly.beginning(of: now - 86_400))
        == "pushgateway-20261116T000000Z.backup")
  }

  @Test(arguments: [
    "", "pushgateway-.backup", "pushgateway-20261123T020000Z.backup.new", "other-20261123T020000Z.backup",
    "pushgateway-20261323T020000Z.backup", "pushgateway-20261123T020000.backup",
  ])
  func `a name that no backup of ours has is another's`(_ name: String) {
    #expect(BackupSchedule.time(of: name) == nil)
  }

  @Test func `a backup is due when none was made in this interval, and no file of tomorrow counts`() throws {
    let schedule = try #require(BackupSchedule("daily, keep 2, to /b"))
    func name(_ time: Int64) -> String { BackupSchedule.name(at: time) }
    let today = BackupSchedule.Interval.daily.beginning(of: now)
    #expect(schedule.isDue(at: now, []))
    #expect(schedule.isDue(at: now, [name(today - 1), "letter"]))
    #expect(!schedule.isDue(at: now, [name(today)]))
    #expect(!schedule.isDue(at: now, [name(now)]))
    #expect(schedule.isDue(at: now, [name(now + 100_000)]))
    #expect(schedule.isDue(at: today + 86_400, [name(now)]))
  }

  @Test func `the oldest go, and nothing that is another's`() throws {
    let schedule = try #require(BackupSchedule("daily, keep 2, to /b"))
    let names = (0..<4).map { BackupSchedule.name(at: now + $0 * 86_400) }
    #expect(schedule.surplus(of: (names + ["letter", "a.backup"]).shuffled()) == Array(names.prefix(2)))
    #expect(schedule.surplus(of: Array(names.prefix(2))).isEmpty)
  }
}
