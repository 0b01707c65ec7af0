import Glibc

/// Short paths for Unix sockets, whose length is limited, in state folders with long paths.
package enum ShortSocketPath {
  /// The maximum size in bytes of a path in NIO's `SocketAddress`; the system accepts 107.
  private static let maximumSize = 103

  /// Calls `body` with a path to the same file that is short enough for a socket.
  package static func withShortPath<Value>(
    _ path: String, _ body: (String) async throws -> Value
  ) async throws -> Value {
    guard path.utf8.count > maximumSize, let slash = path.lastIndex(of: "/") else { return try await body(path) }
    let folder = unsafe open(String(path[..<slash]), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    defer { if folder >= 0 { Glibc.close(folder) } }
    return try await body("/proc/self/fd/\(folder)\(path[slash...])")
  }
}
