import GatewayProtocol
import Glibc

/// The number of the last push that is this device's, and its numbering, on disk.
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
  var place: NumberedPlace {
    var bytes = [UInt8](repeating: 0, count: 128)
    let count = unsafe pread(file, &bytes, bytes.count, 0)
    let line = String(decoding: bytes.prefix(max(0, count)).prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    let digits = line.prefix { $0.isASCII && $0.isNumber }
    let epoch =
      line.dropFirst(digits.count).first == " " ? NumberingEpoch(String(line.dropFirst(digits.count + 1))) : nil
    return NumberedPlace(epoch: epoch, seq: UInt64(digits) ?? 0)
  }

  /// Writes the number, where the death of this process leaves it; ``sync()`` makes it outlive the machine.
  ///
  /// A lower one than what stands there is ignored, as is one of another numbering.
  func write(_ place: NumberedPlace) throws {
    try withLock {
      let present = self.place
      if place.epoch == present.epoch, place.seq > present.seq { try replace(with: place) }
    }
  }

  /// Has numbers be of this numbering from now on: of those of another none is here.
  func begin(_ epoch: NumberingEpoch?) throws {
    try withLock {
      if place.epoch != epoch { try replace(with: NumberedPlace(epoch: epoch, seq: 0)) }
    }
  }

  private func withLock(_ body: () throws -> Void) rethrows {
    flock(file, LOCK_EX)
    defer { flock(file, LOCK_UN) }
    try body()
  }

  /// One write replaces it all: the number always has the same width, and what lies after the line's end is not read. An
  /// earlier version reads the number alone.
  private func replace(with place: NumberedPlace) throws {
    let digits = String(place.seq)
    let number = String(repeating: "0", count: 20 - digits.count) + digits
    let text = Array((number + (place.epoch.map { " \($0)" } ?? "") + "\n").utf8)
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
