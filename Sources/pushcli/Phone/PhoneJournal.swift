import Foundation
import Glibc
import PushPolicy

/// The phone's memory on disk: a file to which every change is appended, with its check sum, one line each.
///
/// What is appended is on disk when ``append(_:)`` returns. A line that a crash has torn is the last one, and is cut
/// off; a file that is damaged anywhere else, or is of a newer version, is set aside. From time to time the file is
/// replaced by the shortest one with the same meaning. Belongs to one task at a time.
final class PhoneJournal {
  /// Appended bytes after which a shorter file may be written.
  private static let compactionStep = 1 << 20

  private let path: String
  private var file: Int32
  private let lock: Int32
  /// What is known to be whole, in bytes.
  private var size = 0
  /// The size from which on the file is replaced by a shorter one.
  private var compactionSize = 0

  /// The journal of a device; a second one when the first is in use, by another screen of the same device.
  ///
  /// - Throws: ``CommandFailure`` when the folder can't be written.
  init(folder: String, device: String) throws {
    for number in 1...9 {
      let path = folder + "/" + device + (number == 1 ? ".phone" : ".phone-\(number)")
      let lock = unsafe open(path + ".lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
      guard lock >= 0 else { throw PhoneJournal.unwritable(path) }
      guard flock(lock, LOCK_EX | LOCK_NB) == 0 else {
        close(lock)
        continue
      }
      let file = unsafe open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
      guard file >= 0 else {
        close(lock)
        throw PhoneJournal.unwritable(path)
      }
      (self.path, self.file, self.lock) = (path, file, lock)
      return
    }
    throw CommandFailure(.failed, "\(device) is shown nine times already: close one of its screens")
  }

  deinit {
    close(file)
    // `close` alone keeps the lock while a child process holds a copy of the descriptor, between `fork` and `exec`.
    flock(lock, LOCK_UN)
    close(lock)
  }

  // MARK: Reading

  /// The state as it was left, and in words what was wrong with it.
  func load() throws -> (state: PhoneState, notice: String?) {
    let bytes = try contents()
    let (state, size, fault) = PhoneJournal.read(bytes)
    guard let fault else {
      self.size = size
      if size < bytes.count { ftruncate(file, off_t(size)) }
      compactionSize = size + size / 2 + PhoneJournal.compactionStep
      if size == 0 { try append([.head(version: JournalRecord.version)]) }
      return (state, nil)
    }
    let aside = try setAside()
    try compact(state)
    return (state, "what this phone remembered \(fault); the old file is kept as \(aside)")
  }

  /// The state that the lines of `bytes` lead to, how many bytes are whole, and what is wrong if it is more than an end
  /// that was torn off.
  static func read(_ bytes: [UInt8]) -> (state: PhoneState, size: Int, fault: String?) {
    let parser = JSONParser(maximumDepth: JSONParser.maximumLineDepth)
    var state = PhoneState()
    var start = 0
    while let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) {
      let line = bytes[start..<end]
      guard let json = checked(line), let record = JournalRecord(Array(json), parser: parser) else {
        // After a line that a crash has torn there is none.
        let isTorn = bytes[(end + 1)...].isEmpty && start > 0
        return (state, start, isTorn ? nil : start == 0 ? "can't be read" : "is damaged in part")
      }
      if start == 0 {
        guard case .head(let version) = record else { return (state, 0, "can't be read") }
        if version > JournalRecord.version { return (state, 0, "was written by a newer version and can't be read") }
      }
      state.apply(record)
      start = end + 1
    }
    return (state, start, nil)
  }

  private func contents() throws -> [UInt8] {
    let size = Int(lseek(file, 0, SEEK_END))
    guard size > 0 else { return [] }
    var bytes = [UInt8](repeating: 0, count: size)
    var done = 0
    while done < size {
      let count = unsafe bytes.withUnsafeMutableBytes { buffer in
        unsafe pread(file, buffer.baseAddress! + done, size - done, off_t(done))
      }
      guard count > 0 else { throw CommandFailure(.failed, "\(path) can't be read: check the disk") }
      done += count
    }
    return bytes
  }

  /// Gives an unreadable file another name.
  private func setAside() throws -> String {
    var aside = path + ".set-aside"
    var number = 2
    while unsafe access(aside, F_OK) == 0 {
      aside = path + ".set-aside-\(number)"
      number += 1
    }
    guard unsafe rename(path, aside) == 0 else { throw PhoneJournal.unwritable(path) }
    return aside
  }

  // MARK: Writing

  /// Returns when the changes are on disk; when it throws none of them is in the file.
  func append(_ changes: [PhoneChange]) throws {
    try append(changes.map { JournalRecord.change($0) })
  }

  private func append(_ records: [JournalRecord]) throws {
    guard !records.isEmpty else { return }
    let bytes = PhoneJournal.lines(records)
    guard PhoneJournal.write(bytes, to: file, at: size), fdatasync(file) == 0 else {
      ftruncate(file, off_t(size))
      throw PhoneJournal.unwritable(path)
    }
    size += bytes.count
  }

  /// Whether the file has grown so much that ``compact(_:)`` is worth its while.
  var wantsCompaction: Bool { size > compactionSize }

  /// Replaces the file by the shortest one that has this state, all at once.
  func compact(_ state: PhoneState) throws {
    let bytes = PhoneJournal.lines(state.records)
    let draft = path + ".new"
    let new = unsafe open(draft, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard new >= 0 else { throw PhoneJournal.unwritable(path) }
    guard PhoneJournal.write(bytes, to: new, at: 0), fdatasync(new) == 0, unsafe rename(draft, path) == 0 else {
      close(new)
      throw PhoneJournal.unwritable(path)
    }
    // What is appended to the new file counts only if its name outlives the machine.
    let folder = unsafe open((path as NSString).deletingLastPathComponent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    if folder >= 0 {
      fsync(folder)
      close(folder)
    }
    close(file)
    file = new
    size = bytes.count
    compactionSize = size + size / 2 + PhoneJournal.compactionStep
  }

  private static func write(_ bytes: [UInt8], to file: Int32, at offset: Int) -> Bool {
    var done = 0
    while done < bytes.count {
      let count = unsafe bytes.withUnsafeBytes { buffer in
        unsafe pwrite(file, buffer.baseAddress! + done, bytes.count - done, off_t(offset + done))
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return false }
      done += count
    }
    return true
  }

  private static func unwritable(_ path: String) -> CommandFailure {
    CommandFailure(.failed, "\(path) can't be written: free some space or check the folder's permissions")
  }

  // MARK: Lines

  /// `records` as lines: 16 hex digits of a check sum, a space, JSON.
  static func lines(_ records: [JournalRecord]) -> [UInt8] {
    var lines: [UInt8] = []
    var json: [UInt8] = []
    for record in records {
      json.removeAll(keepingCapacity: true)
      record.appendJSON(to: &json)
      for line in json.split(separator: UInt8(ascii: "\n")) {
        let digits = String(checkSum(line), radix: 16)
        lines += String(repeating: "0", count: 16 - digits.count).utf8
        lines += digits.utf8
        lines.append(UInt8(ascii: " "))
        lines += line
        lines.append(UInt8(ascii: "\n"))
      }
    }
    return lines
  }

  /// The JSON of a line whose check sum is right.
  private static func checked(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    guard line.count > 17, line[line.startIndex + 16] == UInt8(ascii: " ") else { return nil }
    let json = line[(line.startIndex + 17)...]
    let sum = UInt64(String(decoding: line.prefix(16), as: UTF8.self), radix: 16)
    return sum == checkSum(json) ? json : nil
  }

  /// Tells torn and damaged lines from whole ones; nothing else leans on it (FNV-1a over words of eight bytes).
  private static func checkSum(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    var sum: UInt64 = 0xCBF2_9CE4_8422_2325
    func mix(_ word: UInt64) {
      sum = (sum ^ word) &* 0x100_0000_01B3
      sum ^= sum >> 29
    }
    unsafe bytes.withUnsafeBytes { buffer in
      var place = 0
      while place + 8 <= buffer.count {
        mix(unsafe buffer.loadUnaligned(fromByteOffset: place, as: UInt64.self).littleEndian)
        place += 8
      }
      for index in place..<buffer.count { mix(unsafe UInt64(buffer[index])) }
    }
    mix(UInt64(bytes.count))
    return sum
  }
}
