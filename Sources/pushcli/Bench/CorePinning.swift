import Foundation
import Glibc

/// Pins processes to cores, so that a gateway and its load do not share cores.
///
/// It uses `taskset` of util-linux, because Glibc's module lacks `sched_setaffinity`, a GNU extension.
enum CorePinning {
  /// The cores that this process may use.
  static var available: [Int] {
    guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
      let line = status.split(separator: "\n").first(where: { $0.hasPrefix("Cpus_allowed_list:") })
    else { return [] }
    return cores(line.split(separator: ":")[1].trimmingCharacters(in: .whitespaces))
  }

  /// Parses a kernel list of cores, such as `0-3,8`.
  static func cores(_ list: String) -> [Int] {
    list.split(separator: ",").flatMap { part -> [Int] in
      let ends = part.split(separator: "-").compactMap { Int($0) }
      guard let first = ends.first, let last = ends.last, first <= last else { return [] }
      return Array(first...last)
    }
  }

  /// Returns the words to put before a program and its arguments to run it on the given cores.
  static func command(_ cores: [Int]) -> [String] { ["taskset", "--cpu-list", text(cores)] }

  /// Pins all threads of this process, and the processes that they start from now on.
  static func pinProcess(to cores: [Int]) throws {
    let process = Process.quiet(["taskset", "--all-tasks", "--cpu-list", "--pid", text(cores), String(getpid())])
    try? process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw CommandFailure(.failed, "--pin needs taskset, of the package util-linux: leave --pin out")
    }
  }

  private static func text(_ cores: [Int]) -> String { cores.map(String.init).joined(separator: ",") }
}
