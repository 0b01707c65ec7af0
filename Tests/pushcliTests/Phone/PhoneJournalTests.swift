import Foundation
import GatewayProtocol
import PushPolicy
import PushTesting
import Testing

@testable import pushcli

@Suite struct PhoneJournalTests {
  private let folder: String

  init() throws {
    folder = NSTemporaryDirectory() + "journal-\(UUID())"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  }

  private var path: String { folder + "/studio.phone" }

  private var bytes: [UInt8] { Array(FileManager.default.contents(atPath: path) ?? Data()) }

  private func write(_ bytes: some Sequence<UInt8>) throws { try Data(bytes).write(to: URL(filePath: path)) }

  /// One change of each kind, for the resulting state.
  private var changes: [PhoneChange] {
    var preferences = Preferences()
    preferences.apps["com.example.news"] = AppPreferences()
    preferences.apps["com.example.news"]?.parts.sound = false
    let dinner = Sample.push(3, Sample.mail, badge: 1, alert: Sample.dinner, thread: "a\"b", collapse: "c")
    return [
      .apps([Sample.news, Sample.mail]), .received(Sample.push(1, badge: 3, alert: Sample.earthquake)),
      .presented(ordinal: 1), .received(Sample.push(2, alert: Sample.done)), .received(dinner),
      .answered(ordinal: 1), .retracted(id: "push-2"), .read([1]), .cleared([1]),
      .retracted(id: "push-3", answer: GivenAnswer(action: "a\"b", device: "laptop")),
      .pending(.init(id: "push-1", action: "view")), .answersSent, .pending(.init(id: "push-2", action: "a\"b")),
      .pending(.init(id: "push-3", action: "ok")), .answerTaken(id: "push-3"),
      .snoozed(ordinal: 2, until: 1_763_129_700), .snoozed(ordinal: 3, until: 5), .woken(ordinal: 3),
      .gap(dropped: 4), .renumbered(NumberingEpoch("cell-1")), .passed(seq: 9),
      .gapNoted,
      .gap(dropped: 2), .preferences(preferences),
      .restored([.init(ordinal: 1, push: Sample.push(1, badge: 3, alert: Sample.earthquake), isRead: true)]),
      .settings(DeviceSettings(isSilent: true, volume: 25, notices: .always)),
      .place(.init(screen: .app(topic: "com.example.mail", selected: 3), selectedTopic: "com.example.mail")),
    ]
  }

  private func state(_ changes: some Sequence<PhoneChange>) -> PhoneState {
    var state = PhoneState()
    for change in changes { state.apply(change) }
    return state
  }

  @Test func `what was appended comes back, also from the compacted form`() throws {
    let expected = state(changes)
    do {
      let journal = try PhoneJournal(folder: folder, device: "studio")
      _ = try journal.load()
      for change in changes { try journal.append([change]) }
    }
    for _ in 1...2 {
      let journal = try PhoneJournal(folder: folder, device: "studio")
      let (restored, notice) = try journal.load()
      #expect(restored == expected)
      #expect(notice == nil)
      try journal.compact()
    }
    #expect(expected.alerts.isEmpty && expected.entries.count == 3 && expected.droppedCount == 2)
  }

  @Test func `an answer comes back with an entry that was cleared and brought back`() throws {
    let answer = GivenAnswer(action: "approve", person: "ann")
    let journal = try PhoneJournal(folder: folder, device: "studio")
    _ = try journal.load()
    try journal.append([
      .received(Sample.push(1, alert: Sample.deploy)), .retracted(id: "push-1", answer: answer),
    ])
    let entries = journal.state.entries
    try journal.append([.cleared([1]), .restored(entries)])
    #expect(entries.map(\.answer) == [answer] && journal.state.entries == entries)
    #expect(PhoneJournal.read(bytes).state == journal.state)
    try journal.compact()
    #expect(PhoneJournal.read(bytes).state == journal.state)
  }

  @Test func `a journal that was closed comes back while a child process still holds the lock's descriptor`() throws {
    var journal: PhoneJournal? = try PhoneJournal(folder: folder, device: "studio")
    _ = try journal?.load()
    try journal?.append([.gap(dropped: 4)])
    let held = try #require(HeldDescriptor(of: path + ".lock"))
    journal = nil
    #expect(try PhoneJournal(folder: folder, device: "studio").load().state.droppedCount == 4)
    withExtendedLifetime(held) {}
  }

  @Test func `what is appended to a compacted journal comes back, too`() throws {
    let journal = try PhoneJournal(folder: folder, device: "studio")
    _ = try journal.load()
    try journal.append(Array(changes.prefix(3)))
    try journal.compact()
    try journal.append(Array(changes.dropFirst(3)))
    #expect(journal.state == state(changes))
    #expect(PhoneJournal.read(bytes).state == state(changes))
  }

  @Test func `a file that is torn at any byte has what was whole, and goes on`() throws {
    let records = [JournalRecord.head(version: 1)] + changes.map { .change($0) }
    let whole = PhoneJournal.lines(records)
    let ends = whole.indices.filter { whole[$0] == UInt8(ascii: "\n") }
    for size in 0..<whole.count {
      let count = ends.count { $0 < size }
      let read = PhoneJournal.read(Array(whole.prefix(size)))
      #expect(read.fault == nil)
      #expect(read.size == (count == 0 ? 0 : ends[count - 1] + 1))
      #expect(read.state == state(changes.prefix(max(count - 1, 0))))
    }
    try write(whole.dropLast(5))
    do {
      let journal = try PhoneJournal(folder: folder, device: "studio")
      #expect(try journal.load().notice == nil)
      try journal.append([.gap(dropped: 9)])
    }
    #expect(PhoneJournal.read(bytes).state == state(changes.dropLast() + [.gap(dropped: 9)]))
  }

  @Test func `a file that is damaged in the middle is set aside with one line, and what stood before is kept`() throws {
    var whole = PhoneJournal.lines([.head(version: 1)] + changes.map { .change($0) })
    whole[whole.count / 2] ^= 0x20
    try write(whole)
    let (restored, notice) = try PhoneJournal(folder: folder, device: "studio").load()
    #expect(notice == "what this phone remembered is damaged in part; the old file is kept as \(path).set-aside")
    #expect(!restored.entries.isEmpty)
    #expect(Array(FileManager.default.contents(atPath: path + ".set-aside") ?? Data()) == whole)
    #expect(PhoneJournal.read(bytes).state == restored)
  }

  @Test(arguments: [
    (Array("a file of another kind\n".utf8), "can't be read"), ([0x0A], "can't be read"),
    (PhoneJournal.lines([.head(version: JournalRecord.version + 1)]), "newer version"),
  ])
  func `a file that can't be read is set aside with one line`(_ contents: [UInt8], _ words: String) throws {
    try write(contents)
    let (restored, notice) = try PhoneJournal(folder: folder, device: "studio").load()
    #expect(restored == PhoneState())
    #expect(Array(FileManager.default.contents(atPath: path + ".set-aside") ?? Data()) == contents)
    #expect(notice?.contains(words) == true)
  }

  @Test(arguments: ["center", "centre"])
  func `a place is read in both spellings of the center`(_ spelling: String) throws {
    let line = #"{"type":"place","screen":"\#(spelling)","topic":"","selected":0,"app":"com.example.mail"}"#
    guard case .change(.place(let place)) = JournalRecord(Array(line.utf8), parser: JSONParser()) else {
      Issue.record("no place: \(line)")
      return
    }
    #expect(place.screen == .center && place.selectedTopic == "com.example.mail")
  }
}
