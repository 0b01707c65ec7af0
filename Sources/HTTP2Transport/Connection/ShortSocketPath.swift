import Glibc

/// Unix sockets have short names; state folders may not.
package enum ShortSocketPath {
  /// What `SocketAddress` of NIO takes, in bytes; the system takes 107.
  private static let maximumSize = 103

  /// Calls `body` with a name for the same place that is short enough.
  package static func withShortPath<Value>(
    _ path: String, _ body: (String) async throws -> Value
  ) async throws -> Value {
    guard path.utf8.count > maximumSize, let slash = path.lastIndex(of: "/") else { return try await body(path) }
    let folder = unsafe open(String(path[..<slash]), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    defer { if folder >= 0 { Glibc.close(folder) } }
    return try await body("/proc/self/fd/\(folder)\(path[slash...])")
  }
}
