import Foundation
import GatewayProtocol
import Glibc

/// The history of a device on disk: a file to which every change is appended as one line with a checksum.
///
/// All screens of the device share the file. Before a screen appends, it reads the lines of the others and leaves out
/// pushes that are already there. Every screen therefore has the same pushes under the same ordinals. Appended
/// changes are on disk when ``append(_:)`` or ``receive(_:of:)`` returns.
///
/// A line torn by a crash is the last one, and is cut off. A file that is damaged at any other position, or that has
/// a newer version, is set aside. From time to time the file is replaced by the shortest one with the same meaning.
/// While another screen writes, each method throws ``JournalInUse`` and changes nothing. An instance belongs to one
/// task at a time.
final class PhoneJournal {
  /// The number of appended bytes after which a shorter file may be written.
  private static let compactionStep = 1 << 20

  /// The history up to the last line that was read.
  private(set) var state = PhoneState()
  private var news = JournalNews()
  /// The received pushes without a number, which are distinguished only by their keys.
  private var passing = PassingPushes()
  private let file: JournalFile
  /// A lock file that all screens share. Screens of earlier versions lock it exclusively, because each has its own
  /// journal.
  private let use: Int32
  /// The size in bytes from which on the file is replaced by a shorter one.
  private var compactionSize = Int.max

  /// - Parameter timeLimit: The time to wait for the write of another screen.
  /// - Throws: ``CommandFailure`` if the folder cannot be written, or if a screen of an earlier version is open.
  init(folder: String, device: String, timeLimit: Duration = .seconds(10)) throws {
    let path = folder + "/" + device + ".phone"
    guard let use = JournalFile.opened(path + ".lock") else { throw JournalFile.unwritable(path) }
    guard flock(use, LOCK_SH | LOCK_NB) == 0 else {
      close(use)
      throw CommandFailure(.failed, "an earlier version of pushcli has a screen of \(device) open: close that first")
    }
    do {
      file = try JournalFile(path: path, timeLimit: timeLimit)
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

  // MARK: Operations of screens

  /// Returns the saved state, and a description of the fault if the file was damaged.
  func load() throws -> (state: PhoneState, notice: String?) {
    try exclusively { try takeInEarlierJournals() }
    return (state, takeNews().notice)
  }

  /// Appends changes of this screen and returns when they are on disk. If it throws, the file contains none of them.
  func append(_ changes: [PhoneChange]) throws {
    try exclusively { try write(changes) }
  }

  /// Saves pushes from a gateway with this numbering and returns when they are on disk. Known pushes are left out.
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

  /// Records that later sequence numbers belong to this numbering.
  func renumber(_ numbering: NumberingEpoch?) throws {
    try exclusively {
      if state.epoch != numbering || !state.isRenumbered { try write([.renumbered(numbering)]) }
    }
  }

  /// Records that the gateway dropped pushes, the last one with the number `last`. The gateway reports this to each
  /// screen.
  func noteGap(_ dropped: Int, through last: UInt64) throws {
    try exclusively {
      guard last == 0 || last > state.lastSeq else { return }
      try write([.gap(dropped: dropped), .passed(seq: last)])
      news.note(.gap(dropped: dropped), isOwn: true)
    }
  }

  /// Reads the lines that other screens have appended.
  func refresh() throws {
    if file.isBehind { try exclusively {} }
  }

  /// Replaces the file by the shortest one that leads to this state.
  func compact() throws { try exclusively(replace) }

  /// Returns the changes since the last call.
  func takeNews() -> JournalNews {
    defer { news = JournalNews() }
    return news
  }

  // MARK: The file

  /// Runs `body` while no other screen writes, after reading the lines of the other screens.
  private func exclusively(_ body: () throws -> Void) throws {
    let isReplaced = try file.lock { if let bytes = try? file.rest() { _ = read(bytes) } }
    defer { file.unlock() }
    if isReplaced { try takeInReplacement() } else { try takeIn() }
    try body()
    if file.size > compactionSize { try? replace() }
  }

  /// Reads appended lines, and cuts off a line that was torn by a crash.
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

  /// - Returns: A description of the fault; a torn end is not a fault.
  private func read(_ bytes: [UInt8]) -> String? {
    let (count, fault) = PhoneJournal.read(bytes, into: &state, isBeginning: file.size == 0) { change in
      news.note(change, isOwn: false)
      if case .received(let push) = change { _ = passing.isNew(push) }
    }
    file.advance(by: count)
    return fault
  }

  /// Reads a file that replaced the previous one. An empty file is new: the previous one was removed.
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

  /// Merges the journals of earlier versions, which used a separate file for each screen, and removes these files.
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

  /// - Parameter next: The state after the changes, if it is known.
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
