import Foundation
import GatewayProtocol
import Glibc
import PushCore
import PushPolicy
import PushTesting
import Testing

@testable import pushcli

/// Several screens of one device, which share its history.
@Suite struct SharedHistoryTests {
  private let folder: String

  init() throws {
    folder = NSTemporaryDirectory() + "history-\(UUID())"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  }

  private var path: String { folder + "/studio.phone" }

  private func open() throws -> PhoneJournal {
    let journal = try PhoneJournal(folder: folder, device: "studio")
    _ = try journal.load()
    return journal
  }

  private func push(_ seq: UInt64, badge: Int? = nil) -> DevicePush {
    Sample.push(seq, badge: badge, alert: Sample.dinner)
  }

  @Test func `a push that comes to both is in the history once, and each screen gets it`() throws {
    let (first, second) = (try open(), try open())
    try first.receive([push(1, badge: 4), push(2)], of: nil)
    try second.receive([push(1, badge: 4), push(2), push(3)], of: nil)
    try first.receive([push(3)], of: nil)
    #expect(first.takeNews().arrivals == (1...3).map { .received(push($0, badge: $0 == 1 ? 4 : nil)) })
    #expect(second.takeNews().arrivals.count == 3)
    #expect(first.state == second.state && first.state.entries.map(\.push.seq) == [1, 2, 3])
    #expect(first.state.apps.map(\.badge) == [4])
    #expect(try open().state == first.state)
  }

  @Test func `a push without a number is there once, also when the other has cleared it`() throws {
    let (first, second) = (try open(), try open())
    try first.receive([push(0)], of: nil)
    try first.append([.cleared([1])])
    try second.receive([push(0)], of: nil)
    #expect(second.state.entries.isEmpty && second.takeNews().arrivals.count == 1)
    var again = push(0)
    again.received += 1
    try second.receive([again], of: nil)
    #expect(second.state.entries.count == 1)
  }

  @Test func `what one screen reads, clears and answers is so on the other`() throws {
    let (first, second) = (try open(), try open())
    try first.receive((1...3).map { push($0) }, of: nil)
    try second.refresh()
    #expect(second.takeNews().isChanged == false)
    try first.append([.read([1]), .answered(ordinal: 2), .cleared([3])])
    try second.refresh()
    let news = second.takeNews()
    #expect(news.isChanged && !news.hasAnswers && news.arrivals.isEmpty)
    #expect(second.state == first.state && second.state.entries.map(\.isRead) == [true, true])
    try second.append([.pending(.init(id: "push-1", action: "ok"))])
    try first.refresh()
    #expect(first.takeNews().hasAnswers && !second.takeNews().isChanged)
  }

  @Test func `a file that one screen has shortened is the other's, too, with what came since`() throws {
    let (first, second) = (try open(), try open())
    try first.receive([push(1)], of: nil)
    try second.refresh()
    _ = second.takeNews()
    // Changes at the end of the old file, in the compacted file, and after it.
    try first.receive([push(2)], of: nil)
    try first.append([.read([1])])
    try first.compact()
    try first.receive([push(3)], of: nil)
    try first.compact()
    try first.receive([push(4)], of: nil)
    try second.receive([push(4), push(5)], of: nil)
    let news = second.takeNews()
    #expect(news.isChanged && news.arrivals == (2...5).map { .received(push($0)) })
    try first.refresh()
    #expect(first.state == second.state && first.state.entries.count == 5)
    #expect(try open().state == first.state)
  }

  @Test func `a line that a killed screen has torn is cut off by the other`() throws {
    let first = try open()
    try first.receive([push(1)], of: nil)
    let file = try #require(FileHandle(forWritingAtPath: path))
    try file.seekToEnd()
    try file.write(contentsOf: PhoneJournal.lines([.change(.received(push(2)))]).dropLast(9))
    try first.receive([push(2), push(3)], of: nil)
    #expect(try open().state == first.state && first.state.entries.count == 3)
    #expect(first.takeNews().notice == nil)
  }

  @Test func `a history that was removed is written again by a screen that has it`() throws {
    let first = try open()
    try first.receive([push(1)], of: nil)
    try FileManager.default.removeItem(atPath: path)
    try first.receive([push(2)], of: nil)
    #expect(first.state.entries.count == 2)
    #expect(try open().state == first.state)
  }

  @Test func `pushes of two numberings are told apart, and one that comes again is there once`() throws {
    let (first, second) = (try open(), try open())
    try first.receive([push(57), push(58)], of: nil)
    try second.renumber(NumberingEpoch("cell-1"))
    var (again, new) = (push(57), push(4))
    again.seq = 3
    try second.receive([again], of: NumberingEpoch("cell-1"))
    try first.receive([push(59)], of: nil)
    new.seq = 4
    // The sender may use an id again, for another push.
    var reused = push(57)
    (reused.seq, reused.received) = (5, reused.received + 600)
    try second.receive([again, new, reused], of: NumberingEpoch("cell-1"))
    #expect(second.state.entries.map(\.push.id) == ["push-57", "push-58", "push-59", "push-4", "push-57"])
    #expect(second.state.lastSeq == 5)
    try second.renumber(NumberingEpoch("cell-1"))
    #expect(second.state.lastSeq == 5)
  }

  @Test func `pushes that the gateway has dropped are counted once`() throws {
    let (first, second) = (try open(), try open())
    try first.noteGap(7, through: 9)
    try second.noteGap(7, through: 9)
    #expect(second.state.droppedCount == 7 && second.takeNews().arrivals == [.gap(dropped: 7)])
    try second.receive([push(10)], of: nil)
    #expect(second.state.entries.count == 1)
  }

  @Test func `a screen of an earlier version keeps others out, in words`() throws {
    let lock = unsafe Glibc.open(path + ".lock", O_RDWR | O_CREAT, 0o600)
    try #require(lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) == 0)
    let failure = #expect(throws: CommandFailure.self) { try open() }
    #expect(failure.map { "\($0)" }?.contains("close that first") == true)
    close(lock)
    #expect(try open().state == PhoneState())
  }

  @Test func `what screens of earlier versions have received comes in once, in the order of its arrival`() throws {
    func received(_ seq: UInt64, _ time: TimeInterval, badge: Int? = nil) -> DevicePush {
      var line = String(decoding: push(seq, badge: badge).line, as: UTF8.self)
      line.replace("14:03:00.000Z", with: "14:\(10 + Int(time)):00.000Z")
      return DevicePush(line: Array(line.utf8), parser: JSONParser())!
    }
    let both = received(1, 1)
    let own: [PhoneChange] = [
      .received(both), .answered(ordinal: 1, isRead: false), .received(received(3, 3, badge: 3)),
    ]
    let other: [PhoneChange] = [
      .received(both), .read([1]), .received(received(2, 2)), .answered(ordinal: 2),
      .received(received(4, 4, badge: 9)), .pending(.init(id: "push-2", action: "ok")),
    ]
    for (name, changes) in [("", own), ("-2", other)] {
      let lines = PhoneJournal.lines([.head(version: 2)] + changes.map { .change($0) })
      try Data(lines).write(to: URL(filePath: path + name))
    }
    for _ in 1...2 {
      let state = try open().state
      #expect(state.entries.map(\.push.seq) == [1, 2, 3, 4])
      #expect(state.entries.map(\.isRead) == [true, true, false, false])
      #expect(state.alerts.map(\.push.seq) == [3, 4])
      #expect(state.alerts.map(\.ordinal) == state.entries.suffix(2).map(\.ordinal))
      #expect(state.lastSeq == 4 && state.apps.map(\.badge) == [9])
      #expect(state.pendingAnswers == [.init(id: "push-2", action: "ok")])
    }
    let files = try FileManager.default.contentsOfDirectory(atPath: folder)
    #expect(files.sorted() == ["studio.phone", "studio.phone.lock"])
  }

  @Test(arguments: 1...40 as ClosedRange<UInt64>)
  func `screens that come, go and are killed have one history`(_ seed: UInt64) throws {
    var random = SplitMix64(state: seed)
    var screens = [try TestScreen(folder)]
    var sent: [DevicePush] = []
    for _ in 1...150 {
      let index = Int.random(in: screens.indices, using: &random)
      switch Int.random(in: 0..<10, using: &random) {
      case 0 where screens.count < 3: screens.append(try TestScreen(folder))
      // Unsaved changes are lost with the screen, but no others.
      case 1 where screens.count > 1: screens.remove(at: index)
      case 2: try screens[index].journal.compact()
      case 3, 4:
        sent.append(Sample.push(UInt64(sent.count + 1), badge: sent.count, alert: Sample.dinner))
        try screens[index].receive(sent)
      case 5: try screens[index].receive(sent)
      case 6: screens[index].act(&random)
      case 7: try screens[index].save()
      default: try screens[index].refresh()
      }
    }
    // A screen that reads the changes of another may have changes to save itself.
    repeat {
      for index in screens.indices { try screens[index].save() }
      for index in screens.indices { try screens[index].refresh() }
    } while screens.contains { !$0.changes.isEmpty }
    let state = try open().state
    for screen in screens {
      #expect(screen.journal.state == state)
      var model = screen.phone.state
      model.place = state.place
      #expect(model == state)
    }
    #expect(state.lastSeq == UInt64(sent.count) && state.nextOrdinal == sent.count + 1)
    #expect(sent.isEmpty || state.app(Sample.news.topic)?.badge == sent.count - 1)
  }

  /// A screen without a terminal. The test controls when its changes are saved.
  private struct TestScreen {
    let journal: PhoneJournal
    var phone: PhoneModel
    private(set) var changes: [PhoneChange] = []
    private var savedCount = 0

    init(_ folder: String) throws {
      journal = try PhoneJournal(folder: folder, device: "studio")
      phone = PhoneModel(device: "studio", state: try journal.load().state)
    }

    mutating func receive(_ pushes: [DevicePush]) throws {
      try journal.receive(pushes, of: nil)
      take()
    }

    mutating func refresh() throws {
      try journal.refresh()
      take()
    }

    mutating func save() throws {
      try journal.append(changes)
      savedCount += changes.count
      changes = []
      take()
    }

    mutating func act(_ random: inout SplitMix64) {
      let ordinals = phone.state.entries.map(\.ordinal)
      let change: PhoneChange
      switch (Int.random(in: 0..<4, using: &random), ordinals.randomElement(using: &random)) {
      case (0, let ordinal?): change = .read([ordinal])
      case (1, let ordinal?): change = .cleared([ordinal])
      case (2, let ordinal?): change = .answered(ordinal: ordinal)
      default: change = .settings(DeviceSettings(volume: Int.random(in: 0...100, using: &random)))
      }
      phone.record(change)
      changes += phone.takeChanges()
    }

    private mutating func take() {
      let news = journal.takeNews()
      for case .received(let push) in news.arrivals { note(phone.update(.push(push), now: Sample.now)) }
      note(phone.update(.stored(count: savedCount, history: news.isChanged ? journal.state : nil), now: Sample.now))
    }

    private mutating func note(_ effects: [PhoneEffect]) {
      for case .save(let change) in effects { changes.append(change) }
    }
  }
}
