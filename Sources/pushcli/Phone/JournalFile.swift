import Foundation
import Glibc

/// A file to which the screens of a device append, one at a time, and which each of them reads on.
///
/// A screen locks it for one write. One that replaces it does so under the lock, and the others go on with the new file.
/// Belongs to one task at a time.
final class JournalFile {
  let path: String
  private var file: LockedFile
  /// How much of the file is known, in bytes.
  private(set) var size = 0
  /// Whether the file has taken the place of the one that was read before.
  private var isReplaced = false

  /// - Throws: ``CommandFailure`` when the file can't be written.
  init(path: String) throws {
    guard let file = JournalFile.opened(path) else { throw JournalFile.unwritable(path) }
    (self.path, self.file) = (path, LockedFile(file))
  }

  // MARK: The lock

  /// Locks the file that has the name now.
  ///
  /// - Parameter leave: Called before another file takes the place of the one that was read.
  /// - Returns: whether that has happened: then nothing of the file is known.
  /// - Throws: ``JournalInUse`` while another screen has the lock.
  func lock(leave: () -> Void) throws -> Bool {
    while true {
      guard file.lock() else { throw JournalInUse(file: file, path: path) }
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

  /// Has the next ``lock(leave:)`` say again that the file is another one.
  func forget() { (size, isReplaced) = (0, true) }

  /// Whether there is something to be read.
  var isBehind: Bool { length > size || !hasName }

  /// Whether the file is the one that has the name.
  private var hasName: Bool {
    var (own, named) = (stat(), stat())
    guard unsafe fstat(file.descriptor, &own) == 0, unsafe stat(path, &named) == 0 else { return false }
    return own.st_ino == named.st_ino && own.st_dev == named.st_dev
  }

  private var length: Int { Int(lseek(file.descriptor, 0, SEEK_END)) }

  // MARK: Reading

  /// What stands after what is known.
  func rest() throws -> [UInt8] {
    let count = length - size
    guard count > 0 else { return [] }
    var bytes = [UInt8](repeating: 0, count: count)
    var done = 0
    while done < count {
      let read = unsafe bytes.withUnsafeMutableBytes { buffer in
        unsafe pread(file.descriptor, buffer.baseAddress! + done, count - done, off_t(size + done))
      }
      if read < 0, errno == EINTR { continue }
      guard read > 0 else { throw CommandFailure(.failed, "\(path) can't be read: check the disk") }
      done += read
    }
    return bytes
  }

  /// Notes that this much more is known.
  func advance(by count: Int) { size += count }

  /// Cuts off what is not known.
  func cutOff() {
    if length > size { ftruncate(file.descriptor, off_t(size)) }
  }

  /// Gives the file another name besides, until another file takes its own.
  func setAside() throws -> String {
    let aside = JournalFile.unusedName(path)
    if unsafe link(path, aside) == 0 { return aside }
    guard unsafe rename(path, aside) == 0 else { throw JournalFile.unwritable(path) }
    return aside
  }

  /// A name for a file that is set aside.
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

  /// Returns when the bytes are on disk after what is known; when it throws none of them is in the file.
  func append(_ bytes: [UInt8]) throws {
    guard JournalFile.write(bytes, to: file.descriptor, at: size), fdatasync(file.descriptor) == 0 else {
      ftruncate(file.descriptor, off_t(size))
      throw JournalFile.unwritable(path)
    }
    size += bytes.count
  }

  /// Puts another file in place of this one, all at once, and locks it.
  func replace(with bytes: [UInt8]) throws {
    let draft = path + ".new"
    guard let descriptor = JournalFile.opened(draft, O_TRUNC) else { throw JournalFile.unwritable(path) }
    let new = LockedFile(descriptor)
    guard new.lock(), JournalFile.write(bytes, to: descriptor, at: 0), fdatasync(descriptor) == 0,
      unsafe rename(draft, path) == 0
    else { throw JournalFile.unwritable(path) }
    // What is appended to the new file counts only if its name outlives the machine.
    let folder = unsafe open((path as NSString).deletingLastPathComponent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    if folder >= 0 {
      fsync(folder)
      close(folder)
    }
    unlock()
    (file, size) = (new, bytes.count)
  }

  /// Opens a file of the owner's alone, and makes it where there is none.
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
