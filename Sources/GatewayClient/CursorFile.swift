import GatewayProtocol
import Glibc

/// The file with the number of the last push that this device has stored, and its numbering.
///
/// Several processes may receive for one device; the file contains the highest number of all of them.
final class CursorFile: Sendable {
  private let file: Int32
  private let path: String

  init(path: String) throws {
    self.path = path
    file = unsafe open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw ClientError(.storage, "\(path) can't be written: check the folder's permissions") }
  }

  deinit { close(file) }

  /// The number in the file; 0 if there is none.
  var position: NumberedPosition {
    var bytes = [UInt8](repeating: 0, count: 128)
    let count = unsafe pread(file, &bytes, bytes.count, 0)
    let line = String(decoding: bytes.prefix(max(0, count)).prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    let digits = line.prefix { $0.isASCII && $0.isNumber }
    let epoch =
      line.dropFirst(digits.count).first == " " ? NumberingEpoch(String(line.dropFirst(digits.count + 1))) : nil
    return NumberedPosition(epoch: epoch, seq: UInt64(digits) ?? 0)
  }

  /// Writes the number so that it survives the end of this process; ``sync()`` makes it survive a crash of the machine.
  ///
  /// A number that is not higher than the one in the file is ignored, as is one of another numbering.
  func write(_ position: NumberedPosition) throws {
    try withLock {
      let present = self.position
      if position.epoch == present.epoch, position.seq > present.seq { try replace(with: position) }
    }
  }

  /// Changes the file to another numbering, with the number 0. The same numbering changes nothing.
  func begin(_ epoch: NumberingEpoch?) throws {
    try withLock {
      if position.epoch != epoch { try replace(with: NumberedPosition(epoch: epoch, seq: 0)) }
    }
  }

  private func withLock(_ body: () throws -> Void) rethrows {
    flock(file, LOCK_EX)
    defer { flock(file, LOCK_UN) }
    try body()
  }

  /// Replaces the content with one write: the number always has the same width, and bytes after the end of the line are
  /// not read. An earlier version reads only the number.
  private func replace(with position: NumberedPosition) throws {
    let digits = String(position.seq)
    let number = String(repeating: "0", count: 20 - digits.count) + digits
    let text = Array((number + (position.epoch.map { " \($0)" } ?? "") + "\n").utf8)
    guard unsafe pwrite(file, text, text.count, 0) == text.count else { throw failure }
  }

  /// Returns when the number is on disk.
  func sync() throws {
    guard fdatasync(file) == 0 else { throw failure }
  }

  private var failure: ClientError {
    ClientError(.storage, "\(path) can't be written: free some space; nothing is lost, start again then")
  }
}
