import Foundation
import Glibc
import PushCore

/// The gateway of a test: a child process on a temporary folder, which is removed with it.
final class ChildGateway {
  let folder: StateFolder
  private let process = Process()
  private let home: String

  /// The file system of the folder, such as `ext4`.
  let storage: String

  private static let startTimeout = 30.0

  /// Starts `pushcli serve` of this executable on a free port, bound to `cores` unless they are empty.
  init(in parent: String, arguments: [String], cores: [Int]) throws {
    var template = Array((parent + "/pushcli-bench.XXXXXX").utf8CString)
    guard unsafe mkdtemp(&template) != nil else {
      throw CommandFailure(.failed, "no folder can be made in \(parent): name another with --folder DIR")
    }
    home = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    folder = StateFolder(home + "/state")
    storage = ChildGateway.storage(of: home)
    let log = home + "/gateway.log"
    guard FileManager.default.createFile(atPath: log, contents: nil), let output = FileHandle(forWritingAtPath: log)
    else { throw CommandFailure(.failed, "\(log) can't be written: name another folder with --folder DIR") }
    let program = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().path
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments =
      (cores.isEmpty ? [] : CorePinning.command(cores))
      + [program, "serve", "--state", folder.path, "--listen", "127.0.0.1:0"] + arguments
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output
    process.standardError = output
    do {
      try process.run()
    } catch {
      try? FileManager.default.removeItem(atPath: home)
      throw CommandFailure(.failed, "the gateway can't be started: \(error)")
    }
  }

  var pid: Int32 { process.processIdentifier }

  /// Waits until the gateway listens.
  func waitUntilReady() async throws {
    let end = ContinuousClock.now + .seconds(ChildGateway.startTimeout)
    while !FileManager.default.fileExists(atPath: folder.listeningPath) {
      guard process.isRunning, ContinuousClock.now < end else {
        let log = FileManager.default.contents(atPath: home + "/gateway.log") ?? Data()
        let words = String(decoding: log, as: UTF8.self).split(separator: "\n").last ?? ""
        throw CommandFailure(.failed, "the gateway did not start: \(words)")
      }
      try await Task.sleep(for: .milliseconds(10))
    }
  }

  /// Ends the gateway and removes its folder.
  func stop() async {
    if process.isRunning {
      process.terminate()
      let end = ContinuousClock.now + .seconds(12)
      while process.isRunning, ContinuousClock.now < end { try? await Task.sleep(for: .milliseconds(10)) }
      if process.isRunning { kill(pid, SIGKILL) }
    }
    process.waitUntilExit()
    try? FileManager.default.removeItem(atPath: home)
  }

  /// Returns the type of the file system of a path, as named by the kernel's list of mounts (proc(5)).
  private static func storage(of path: String) -> String {
    let mounts = ProcFile.text("/proc/self/mounts") ?? ""
    let real = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
    var best: (point: Substring, kind: Substring) = ("", "an unknown file system")
    for line in mounts.split(separator: "\n") {
      let fields = line.split(separator: " ")
      guard fields.count > 2, fields[1].count >= best.point.count else { continue }
      if fields[1] == "/" || real == fields[1] || real.hasPrefix(fields[1] + "/") { best = (fields[1], fields[2]) }
    }
    return String(best.kind)
  }
}
