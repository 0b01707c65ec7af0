import Foundation
import Glibc
import PushCore

/// The secret for reading metrics from other machines: one line of a file that only its owner may access.
///
/// The file is read again for every request, so that a new secret takes effect without a restart.
struct MetricsToken: Sendable {
  static let setting = "metrics_token_file"

  let path: String

  /// The minimum size of a secret in bytes: 128 bits in base64.
  private static let minimumSize = 22
  private static let maximumSize = 1024

  /// Returns true if the bearer equals the secret; the comparison takes constant time for bearers of its size.
  ///
  /// - Throws: ``ConfigurationError`` if the file can't be used.
  func permits(_ bearer: String) throws(ConfigurationError) -> Bool {
    let (said, known) = (Array(bearer.utf8), try secret())
    guard said.count == known.count else { return false }
    return zip(said, known).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
  }

  /// Checks that the file can be used.
  ///
  /// - Throws: ``ConfigurationError`` if it can't.
  func check() throws(ConfigurationError) { _ = try secret() }

  private func secret() throws(ConfigurationError) -> [UInt8] {
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard file >= 0 else { throw error("can't be read (\(SystemError(errno)))") }
    defer { close(file) }
    var status = stat()
    guard unsafe fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw error("is not a regular file")
    }
    guard status.st_mode & PrivateFile.foreignRights == 0 else {
      throw error("can be read by others: chmod 600 '\(path)'")
    }
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: MetricsToken.maximumSize + 1) { buffer, count in
      unsafe count = max(0, read(file, buffer.baseAddress, buffer.count))
    }
    let secret = bytes.filter { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
    guard secret.count >= MetricsToken.minimumSize, bytes.count <= MetricsToken.maximumSize,
      secret.allSatisfy({ (0x21...0x7E).contains($0) })
    else { throw error("holds no secret: expected one line of \(MetricsToken.minimumSize) characters or more") }
    return secret
  }

  private func error(_ words: String) -> ConfigurationError {
    ConfigurationError(
      description: "\(MetricsToken.setting): \(path) \(words); `openssl rand -base64 32` prints a secret")
  }
}
