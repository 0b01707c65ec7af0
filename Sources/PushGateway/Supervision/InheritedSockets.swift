import Foundation
import Glibc
package import HTTP2Transport

/// Sockets that were bound before the process began: by systemd (`sd_listen_fds(3)`), or by the previous gateway
/// process, in the same form.
package struct InheritedSockets: Sendable {
  package struct Entry: Sendable {
    /// The `FileDescriptorName=` of the socket's unit, or one of ``Name``.
    package let name: String
    package let socket: ListeningSocket
  }

  /// The names of sockets that a gateway has bound itself, with a slash, which systemd's names do not contain.
  enum Name {
    static let admin = "gateway/admin"
    private static let listener = "gateway/listen/"
    private static let http = "gateway/http/"

    /// Returns the name of the socket of an entry of `listen`, without colons, which names must not contain.
    static func listener(_ entry: String) -> String { listener + escaped(entry) }

    /// Returns the name of the socket of an entry of `http_listen`, or of its default.
    static func http(_ entry: String) -> String { http + escaped(entry) }

    private static func escaped(_ entry: String) -> String {
      entry.replacing("%", with: "%25").replacing(":", with: "%3A")
    }

    static func isOwn(_ name: String) -> Bool { name.contains("/") }
  }

  package let entries: [Entry]

  package init(_ entries: [Entry] = []) { self.entries = entries }

  /// Returns the socket with one of the gateway's own names.
  func socket(named name: String) -> ListeningSocket? { entries.first { $0.name == name }?.socket }

  /// The first descriptor after the standard streams, also the first of systemd's.
  private static let first: Int32 = 3
  private static let maximumCount: Int32 = 1000

  /// The variable with the sockets of the previous gateway process: `PID:DESCRIPTOR=NAME:…`. systemd's own variables
  /// would require descriptors that are in use.
  package static let variable = "GATEWAY_SOCKETS"

  /// Takes ownership of the sockets in `LISTEN_PID`, `LISTEN_FDS` and `LISTEN_FDNAMES`, or in ``variable``. To be
  /// called once, before any other file is opened.
  ///
  /// - Throws: ``ConfigurationError`` if a descriptor is not open, or is not a listening socket.
  package static func take(_ environment: [String: String], process: Int32 = getpid()) throws(ConfigurationError)
    -> Self
  {
    var entries: [Entry] = []
    for (descriptor, name) in try announced(environment, process) {
      guard fcntl(descriptor, F_SETFD, FD_CLOEXEC) >= 0 else {
        throw ConfigurationError(
          description:
            "socket \(descriptor) (\(name)) was announced by systemd or the previous program and is not open: start again"
        )
      }
      entries.append(Entry(name: name, socket: ListeningSocket(adopting: descriptor)))
      if case .tcp? = entries[entries.count - 1].socket.address { continue }
      guard Name.isOwn(name) else {
        throw ConfigurationError(
          description:
            "socket \(descriptor) (\(name)) is not a TCP socket: expected ListenStream=PORT or ADDRESS:PORT in the socket unit"
        )
      }
    }
    return InheritedSockets(entries)
  }

  private static func announced(
    _ environment: [String: String], _ process: Int32
  ) throws(ConfigurationError) -> [(Int32, String)] {
    if let handedOver = handedOver(environment, process) { return handedOver }
    return try activated(environment, process)
  }

  private static func handedOver(_ environment: [String: String], _ process: Int32) -> [(Int32, String)]? {
    guard let parts = environment[variable]?.split(separator: ":"), let owner = parts.first, Int32(owner) == process
    else {
      return nil
    }
    return parts.dropFirst().compactMap { part in
      let pair = part.split(separator: "=", maxSplits: 1)
      guard pair.count == 2, let descriptor = Int32(pair[0]), descriptor >= first else { return nil }
      return (descriptor, String(pair[1]))
    }
  }

  private static func activated(
    _ environment: [String: String], _ process: Int32
  ) throws(ConfigurationError) -> [(Int32, String)] {
    guard let text = environment["LISTEN_FDS"], environment["LISTEN_PID"].flatMap(Int32.init) == process else {
      return []
    }
    guard let count = Int32(text), (0...maximumCount).contains(count) else {
      throw ConfigurationError(
        description: "LISTEN_FDS is \"\(text)\": expected a number of sockets up to \(maximumCount)")
    }
    let names = environment["LISTEN_FDNAMES"].map { $0.split(separator: ":", omittingEmptySubsequences: false) } ?? []
    return (0..<Int(count)).map { (first + Int32($0), $0 < names.count ? String(names[$0]) : "unknown") }
  }

  /// Keeps the sockets open in the next program of this process, and closes all other descriptors except the standard
  /// streams.
  ///
  /// - Returns: the variables for that program's environment.
  package func keepForNextProgram() -> [String: String] {
    // Includes descriptors that a library opened without close-on-exec.
    for descriptor in (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? [] {
      if let descriptor = Int32(descriptor), descriptor >= InheritedSockets.first {
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
      }
    }
    for entry in entries { _ = fcntl(entry.socket.descriptor, F_SETFD, 0) }
    let list = entries.map { "\($0.socket.descriptor)=\($0.name)" }
    return [InheritedSockets.variable: ([String(getpid())] + list).joined(separator: ":")]
  }
}
