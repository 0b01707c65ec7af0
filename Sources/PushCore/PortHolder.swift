import Foundation
import Glibc

/// The process that listens on a TCP port, as far as this user may see it (proc(5)).
package enum PortHolder {
  /// Returns the name and the id of the process that prevents binding an address; nil if there is none, or it belongs to
  /// another user.
  ///
  /// Reads the file descriptors of all processes: call it on a thread that may block.
  package static func find(host: String, port: Int) -> String? {
    // A row, a process or a descriptor can be absent from a table or a folder that changes while it is read.
    for _ in 0..<attempts {
      if let found = read(host: host, port: port) { return found }
    }
    return nil
  }

  private static let attempts = 5

  private static func read(host: String, port: Int) -> String? {
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"].compactMap(ProcFile.text)
    let sockets = Set(tables.flatMap { inodes(listeningOn: port, host: host, in: $0) }.map { "socket:[\($0)]" })
    guard !sockets.isEmpty else { return nil }
    let files = FileManager.default
    for pid in ((try? files.contentsOfDirectory(atPath: "/proc")) ?? []).compactMap(Int32.init) {
      let folder = "/proc/\(pid)/fd"
      let descriptors = (try? files.contentsOfDirectory(atPath: folder)) ?? []
      let hasSocket = descriptors.contains { descriptor in
        (try? files.destinationOfSymbolicLink(atPath: folder + "/" + descriptor)).map { sockets.contains($0) } ?? false
      }
      guard hasSocket, let name = ProcFile.text("/proc/\(pid)/comm") else { continue }
      return "\(name.trimmingCharacters(in: .newlines)) (process \(pid))"
    }
    return nil
  }

  /// Returns the inodes of sockets that listen on a port and prevent binding this host's address.
  ///
  /// - Parameter table: the text of `/proc/net/tcp` or `/proc/net/tcp6`.
  static func inodes(listeningOn port: Int, host: String, in table: String) -> [String] {
    let own = digits(of: host)
    return table.split(separator: "\n").dropFirst().compactMap { row in
      let fields = row.split(separator: " ")
      guard fields.count > 9, fields[3] == "0A" else { return nil }
      let endpoint = fields[1].split(separator: ":")
      guard endpoint.count == 2, Int(endpoint[1], radix: 16) == port else { return nil }
      let isAny = [String(endpoint[0]), own ?? "0"].contains { $0.allSatisfy { $0 == "0" } }
      return isAny || own == String(endpoint[0]) ? String(fields[9]) : nil
    }
  }

  /// Returns an address in the form of the tables: the hexadecimal digits of its 32-bit words, each in the byte order
  /// of the machine.
  private static func digits(of host: String) -> String? {
    var bytes = [UInt8](repeating: 0, count: 16)
    if unsafe inet_pton(AF_INET, host, &bytes) == 1 {
      bytes.removeLast(12)
    } else if unsafe inet_pton(AF_INET6, host, &bytes) != 1 {
      return nil
    }
    return stride(from: 0, to: bytes.count, by: 4).map { start in
      let word = bytes[start..<start + 4].reversed().reduce(0 as UInt32) { $0 << 8 | UInt32($1) }
      let text = String(word, radix: 16, uppercase: true)
      return String(repeating: "0", count: 8 - text.count) + text
    }.joined()
  }
}
