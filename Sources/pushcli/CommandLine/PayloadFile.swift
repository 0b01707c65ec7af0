import Foundation
import Glibc

/// Reads files that the user names.
enum PayloadFile {
  /// Returns the bytes of `file`; `-` is standard input.
  ///
  /// - Throws: ``CommandFailure`` of wrong usage if it can't be read.
  static func read(_ file: String) throws -> [UInt8] {
    if file == "-" { return Array(try standardInput()) }
    guard let data = FileManager.default.contents(atPath: file) else {
      throw CommandFailure(.usage, "\(file) can't be read: \(cause(of: file))")
    }
    return Array(data)
  }

  /// Returns the reason for which a file can't be read, with advice.
  private static func cause(of file: String) -> String {
    if unsafe access(file, R_OK) == 0 { return "expected a file, not a folder" }
    return errno == ENOENT
      ? "there is no such file" : "this user has no permission: name - and pass the file as standard input, with <"
  }

  /// Reads standard input to its end, or at most `maximum` bytes.
  ///
  /// - Throws: ``CommandFailure`` of wrong usage if it can't be read.
  static func standardInput(upToCount maximum: Int? = nil) throws -> Data {
    do {
      let input = FileHandle.standardInput
      let data = if let maximum { try input.read(upToCount: maximum) } else { try input.readToEnd() }
      return data ?? Data()
    } catch {
      throw CommandFailure(.usage, "standard input can't be read: name a file, or pipe something in")
    }
  }
}
