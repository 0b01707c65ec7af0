import Glibc

/// The number of the last push that is this device's, on disk.
///
/// Several processes may receive for one device; the highest number of all of them stands.
final class CursorFile: Sendable {
  private let file: Int32
  private let path: String

  init(path: String) throws {
    self.path = path
    file = unsafe open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw DeviceError(.storage, "\(path) can't be written: check the folder's permissions") }
  }

  deinit { close(file) }

  /// The number as it is now; 0 when there is none.
  var value: UInt64 {
    var bytes = [UInt8](repeating: 0, count: 32)
    let count = unsafe pread(file, &bytes, bytes.count, 0)
    return UInt64(String(decoding: bytes.prefix(max(0, count)), as: UTF8.self).prefix { $0.isNumber }) ?? 0
  }

  /// Writes the number, where the death of this process leaves it; ``sync()`` makes it outlive the machine.
  ///
  /// A lower one than what stands there is ignored.
  func write(_ seq: UInt64) throws {
    flock(file, LOCK_EX)
    defer { flock(file, LOCK_UN) }
    guard seq > value else { return }
    // Always the same width, so that one write replaces the whole number.
    let digits = String(seq)
    let text = Array((String(repeating: "0", count: 20 - digits.count) + digits + "\n").utf8)
    guard unsafe pwrite(file, text, text.count, 0) == text.count else { throw failure }
  }

  /// Returns when the number is on disk.
  func sync() throws {
    guard fdatasync(file) == 0 else { throw failure }
  }

  private var failure: DeviceError {
    DeviceError(.storage, "\(path) can't be written: free some space; nothing is lost, start again then")
  }
}
