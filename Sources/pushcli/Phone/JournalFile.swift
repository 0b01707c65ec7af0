import Foundation
import Glibc

/// A file that all screens of a device append to, one at a time, and from which each screen reads new lines.
///
/// A screen locks the file for one write. It also replaces the file under the lock; the other screens then continue
/// with the new file. An instance belongs to one task at a time.
final class JournalFile {
  let path: String
  private var file: LockedFile
  /// The size in bytes of the part that this screen has read or written.
  private(set) var size = 0
  /// True if another file replaced the one that was read before.
  private var isReplaced = false
  /// See ``JournalInUse/limit``.
  private let timeLimit: Duration

  /// - Parameter timeLimit: The time to wait for the write of another screen.
  /// - Throws: ``CommandFailure`` if the file cannot be written.
  init(path: String, timeLimit: Duration) throws {
    guard let file = JournalFile.opened(path) else { throw JournalFile.unwritable(path) }
    (self.path, self.file, self.timeLimit) = (path, LockedFile(file), timeLimit)
  }

  // MARK: The lock

  /// Locks the file that currently has the path.
  ///
  /// - Parameter leave: Called before this screen changes from the file that it read to its replacement.
  /// - Returns: True if the file was replaced; no part of the new file has been read then.
  /// - Throws: ``JournalInUse`` while another screen holds the lock.
  func lock(leave: () -> Void) throws -> Bool {
    while true {
      guard file.lock() else { throw JournalInUse(file: file, path: path, limit: timeLimit) }
      if hasName {
        defer { isReplaced = false }
        return isReplaced
      }
      if !isReplaced { leave() }
      guard let new = JournalFile.opened(path) else {
        unlock()
        throw JournalFile.unwritable(path)
      }
      unlock()
      (file, size, isReplaced) = (LockedFile(new), 0, true)
    }
  }

  func unlock() { file.unlock() }

  /// Makes the next ``lock(leave:)`` report the file as replaced again.
  func forget() { (size, isReplaced) = (0, true) }

  /// True if the file has unread bytes or was replaced.
  var isBehind: Bool { length > size || !hasName }

  /// True if the open file is still the one at the path.
  private var hasName: Bool {
    var (own, named) = (stat(), stat())
    guard unsafe fstat(file.descriptor, &own) == 0, unsafe stat(path, &named) == 0 else { return false }
    return own.st_ino == named.st_ino && own.st_dev == named.st_dev
  }

  private var length: Int { Int(lseek(file.descriptor, 0, SEEK_END)) }

  // MARK: Reading

  /// Returns the bytes after the known part.
  func rest() throws -> [UInt8] {
    let count = length - size
    guard count > 0 else { return [] }
    guard let bytes = readBytes(file.descriptor, from: size, count: count) else {
      throw CommandFailure(.failed, "\(path) can't be read: check the disk")
    }
    return bytes
  }

  /// Adds `count` bytes to the known part.
  func advance(by count: Int) { size += count }

  /// Truncates the file after the known part.
  func cutOff() {
    if length > size { ftruncate(file.descriptor, off_t(size)) }
  }

  /// Gives the file a second name, so that it survives its replacement by another file. Returns that name.
  func setAside() throws -> String {
    let aside = JournalFile.unusedName(path)
    if unsafe link(path, aside) == 0 { return aside }
    guard unsafe rename(path, aside) == 0 else { throw JournalFile.unwritable(path) }
    return aside
  }

  /// Returns an unused name for a file that is set aside.
  static func unusedName(_ path: String) -> String {
    var aside = path + ".set-aside"
    var number = 2
    while unsafe access(aside, F_OK) == 0 {
      aside = path + ".set-aside-\(number)"
      number += 1
    }
    return aside
  }

  // MARK: Writing

  /// Appends bytes after the known part and returns when they are on disk. If it throws, the file contains none of
  /// them.
  func append(_ bytes: [UInt8]) throws {
    guard JournalFile.write(bytes, to: file.descriptor, at: size), fdatasync(file.descriptor) == 0 else {
      ftruncate(file.descriptor, off_t(size))
      throw JournalFile.unwritable(path)
    }
    size += bytes.count
  }

  /// Replaces the file atomically by a new one with these bytes, and locks the new file.
  func replace(with bytes: [UInt8]) throws {
    let draft = path + ".new"
    guard let descriptor = JournalFile.opened(draft, O_TRUNC) else { throw JournalFile.unwritable(path) }
    let new = LockedFile(descriptor)
    guard new.lock(), JournalFile.write(bytes, to: descriptor, at: 0), fdatasync(descriptor) == 0,
      unsafe rename(draft, path) == 0
    else { throw JournalFile.unwritable(path) }
    // Lines appended to the new file are durable only if the directory entry survives a crash of the machine.
    let folder = unsafe open((path as NSString).deletingLastPathComponent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    if folder >= 0 {
      fsync(folder)
      close(folder)
    }
    unlock()
    (file, size) = (new, bytes.count)
  }

  /// Opens a file that only its owner can access, and creates it if it does not exist.
  static func opened(_ path: String, _ flags: Int32 = 0) -> Int32? {
    let file = unsafe open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | flags, 0o600)
    return file >= 0 ? file : nil
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

  static func unwritable(_ path: String) -> CommandFailure {
    CommandFailure(.failed, "\(path) can't be written: free some space or check the folder's permissions")
  }
}
