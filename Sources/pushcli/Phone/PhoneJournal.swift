import Foundation
import GatewayProtocol
import Glibc

/// The history of a device on disk: a file to which every change is appended, with its check sum, one line each.
///
/// All screens of the device share the file. Before a screen appends it takes in what others have appended, and it leaves
/// out pushes that are there; so every screen has the same pushes under the same ordinals. What is appended is on disk
/// when ``append(_:)`` or ``receive(_:of:)`` returns. A line that a crash has torn is the last one, and is cut off; a file
/// that is damaged anywhere else, or is of a newer version, is set aside. From time to time the file is replaced by the
/// shortest one with the same meaning. While another screen writes, each use throws ``JournalInUse`` and does nothing. Belongs to one
/// task at a time.
final class PhoneJournal {
  /// Appended bytes after which a shorter file may be written.
  private static let compactionStep = 1 << 20

  /// The history up to what was read last.
  private(set) var state = PhoneState()
  private var news = JournalNews()
  /// Pushes without a number that have come, which only their ids tell apart.
  private var passing = PassingPushes()
  private let file: JournalFile
  /// A lock that screens have in common; each of an earlier version has a file of its own, and keeps others off it.
  private let use: Int32
  /// The size from which on the file is replaced by a shorter one.
  private var compactionSize = Int.max

  /// - Throws: ``CommandFailure`` when the folder can't be written, or a screen of an earlier version is open.
  init(folder: String, device: String) throws {
    let path = folder + "/" + device + ".phone"
    guard let use = JournalFile.opened(path + ".lock") else { throw JournalFile.unwritable(path) }
    guard flock(use, LOCK_SH | LOCK_NB) == 0 else {
      close(use)
      throw CommandFailure(.failed, "an earlier version of pushcli has a screen of \(device) open: close that first")
    }
    do {
      file = try JournalFile(path: path)
    } catch {
      close(use)
      throw error
    }
    self.use = use
  }

  deinit {
    // `close` alone keeps the lock while a child process holds a copy of the descriptor, between `fork` and `exec`.
    flock(use, LOCK_UN)
    close(use)
  }

  var path: String { file.path }

  // MARK: What screens do

  /// The state as it was left, and in words what was wrong with it.
  func load() throws -> (state: PhoneState, notice: String?) {
    try exclusively { try takeInEarlierJournals() }
    return (state, takeNews().notice)
  }

  /// Returns when the changes of this screen are on disk; when it throws none of them is in the file.
  func append(_ changes: [PhoneChange]) throws {
    try exclusively { try write(changes) }
  }

  /// Returns when pushes are on disk that a gateway of this numbering has sent; those that are there already are left out.
  func receive(_ pushes: [DevicePush], of numbering: NumberingEpoch?) throws {
    try exclusively {
      var (next, passing) = (state, passing)
      var changes: [PhoneChange] = []
      func happen(_ change: PhoneChange) {
        next.apply(change)
        changes.append(change)
      }
      if next.epoch != numbering { happen(.renumbered(numbering)) }
      for push in pushes {
        if let change = next.change(by: push), passing.isNew(push) { happen(change) }
      }
      try write(changes, leadingTo: next)
      self.passing = passing
      for change in changes { news.note(change, isOwn: true) }
    }
  }

  /// Numbers are of this numbering from now on.
  func renumber(_ numbering: NumberingEpoch?) throws {
    try exclusively {
      if state.epoch != numbering || !state.isRenumbered { try write([.renumbered(numbering)]) }
    }
  }

  /// Notes that the gateway has dropped pushes, the last one with the number `last`; it says so to each screen.
  func noteGap(_ dropped: Int, through last: UInt64) throws {
    try exclusively {
      guard last == 0 || last > state.lastSeq else { return }
      try write([.gap(dropped: dropped), .passed(seq: last)])
      news.note(.gap(dropped: dropped), isOwn: true)
    }
  }

  /// Takes in what other screens have appended.
  func refresh() throws {
    if file.isBehind { try exclusively {} }
  }

  /// Replaces the file by the shortest one that has this state.
  func compact() throws { try exclusively(replace) }

  /// What has happened since the last call.
  func takeNews() -> JournalNews {
    defer { news = JournalNews() }
    return news
  }

  // MARK: The file

  /// Does something while no other screen writes, after taking in what they have written.
  private func exclusively(_ body: () throws -> Void) throws {
    let isReplaced = try file.lock { if let bytes = try? file.rest() { _ = read(bytes) } }
    defer { file.unlock() }
    if isReplaced { try takeInReplacement() } else { try takeIn() }
    try body()
    if file.size > compactionSize { try? replace() }
  }

  /// Takes in what was appended, and cuts off a line that a crash has torn.
  private func takeIn() throws {
    guard let fault = read(try file.rest()) else {
      file.cutOff()
      if file.size == 0 { try replace() }
      if compactionSize == .max { planCompaction() }
      return
    }
    let aside = try file.setAside()
    try replace()
    news.notice = "what this phone remembered \(fault); the old file is kept as \(aside)"
  }

  /// - Returns: what is wrong, if it is more than an end that was torn off.
  private func read(_ bytes: [UInt8]) -> String? {
    let (count, fault) = PhoneJournal.read(bytes, into: &state, isBeginning: file.size == 0) { change in
      news.note(change, isOwn: false)
      if case .received(let push) = change { _ = passing.isNew(push) }
    }
    file.advance(by: count)
    return fault
  }

  /// Reads a file that has taken the place of the one before. One that is empty is new: the one before was removed.
  private func takeInReplacement() throws {
    let (known, before) = (state, news)
    (news, compactionSize) = (JournalNews(), .max)
    do {
      if file.isBehind { state = PhoneState() }
      try takeIn()
    } catch {
      (state, news) = (known, before)
      file.forget()
      throw error
    }
    let notice = news.notice ?? before.notice
    news = before
    news.notice = notice
    news.noteReplacement(of: known, by: state)
  }

  /// Takes in what screens of earlier versions have received, each in a file of its own, and removes these files.
  private func takeInEarlierJournals() throws {
    var found: [(path: String, lock: Int32, isWhole: Bool)] = []
    defer { for journal in found { close(journal.lock) } }
    for number in 2...9 {
      let path = "\(path)-\(number)"
      guard unsafe access(path, F_OK) == 0, let lock = JournalFile.opened(path + ".lock") else { continue }
      guard flock(lock, LOCK_EX | LOCK_NB) == 0, let bytes = FileManager.default.contents(atPath: path) else {
        close(lock)
        continue
      }
      let (earlier, _, fault) = PhoneJournal.read(Array(bytes))
      state.merge(earlier)
      found.append((path, lock, fault == nil))
    }
    guard !found.isEmpty else { return }
    try replace()
    for journal in found {
      if journal.isWhole {
        _ = unsafe unlink(journal.path)
      } else {
        _ = unsafe rename(journal.path, JournalFile.unusedName(journal.path))
      }
      _ = unsafe unlink(journal.path + ".lock")
    }
  }

  // MARK: Writing

  /// - Parameter next: The state after the changes, where it is known.
  private func write(_ changes: [PhoneChange], leadingTo next: PhoneState? = nil) throws {
    guard !changes.isEmpty else { return }
    try file.append(PhoneJournal.lines(changes.map { .change($0) }))
    if let next { state = next } else { for change in changes { state.apply(change) } }
  }

  private func replace() throws {
    try file.replace(with: PhoneJournal.lines(state.records))
    planCompaction()
  }

  private func planCompaction() { compactionSize = file.size + file.size / 2 + PhoneJournal.compactionStep }
}
