import Foundation
import Glibc

/// Binding processes to cores, so that a gateway and its load do not take each other's.
///
/// util-linux's `taskset` does it, because Glibc's module lacks `sched_setaffinity`, which only GNU has.
enum CorePinning {
  /// The cores this process may use.
  static var available: [Int] {
    guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
      let line = status.split(separator: "\n").first(where: { $0.hasPrefix("Cpus_allowed_list:") })
    else { return [] }
    return cores(line.split(separator: ":")[1].trimmingCharacters(in: .whitespaces))
  }

  /// Reads a list of the kernel's, such as `0-3,8`.
  static func cores(_ list: String) -> [Int] {
    list.split(separator: ",").flatMap { part -> [Int] in
      let ends = part.split(separator: "-").compactMap { Int($0) }
      guard let first = ends.first, let last = ends.last, first <= last else { return [] }
      return Array(first...last)
    }
  }

  /// What comes before a program and its arguments to run it on some cores.
  static func command(_ cores: [Int]) -> [String] { ["taskset", "--cpu-list", text(cores)] }

  /// Binds all threads of this process, and what they start from now on.
  static func pinProcess(to cores: [Int]) throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["taskset", "--all-tasks", "--cpu-list", "--pid", text(cores), String(getpid())]
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try? process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw CommandFailure(.failed, "--pin needs taskset, of the package util-linux: leave --pin out")
    }
  }

  private static func text(_ cores: [Int]) -> String { cores.map(String.init).joined(separator: ",") }
}
