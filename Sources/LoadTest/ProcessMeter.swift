import Foundation
import Glibc

/// The resource use of a process so far, read from `/proc` (proc(5)).
package struct ProcessUse: Sendable {
  /// The user and system time of all threads, in seconds.
  package var cpu: Double
  /// The resident memory in bytes.
  package var resident: Int

  /// Reads the use of a process; nil if the process does not exist or is not readable.
  package init?(pid: Int32) {
    guard let stat = ProcessUse.read("/proc/\(pid)/stat"), let memory = ProcessUse.read("/proc/\(pid)/statm"),
      let use = ProcessUse(stat: stat, statm: memory)
    else { return nil }
    self = use
  }

  /// Parses the lines of `/proc/<pid>/stat` and `/proc/<pid>/statm`; nil if they are malformed.
  package init?(stat: String, statm: String) {
    // The second field is the program's name in parentheses, and can contain any character.
    guard let end = stat.lastIndex(of: ")") else { return nil }
    let fields = stat[stat.index(after: end)...].split(separator: " ")
    let pages = statm.split(separator: " ")
    guard fields.count > 12, pages.count > 1, let user = Double(fields[11]), let system = Double(fields[12]),
      let resident = Int(pages[1])
    else { return nil }
    cpu = (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
    self.resident = resident * Int(sysconf(Int32(_SC_PAGESIZE)))
  }

  private static func read(_ path: String) -> String? {
    // Files of /proc have no size, so Foundation's whole-file read returns no bytes.
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = unsafe Glibc.read(file, &bytes, bytes.count)
    return count > 0 ? String(decoding: bytes.prefix(count), as: UTF8.self) : nil
  }
}
