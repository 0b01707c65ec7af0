import Dispatch
import Foundation
import Glibc
import PushGateway

/// The program that replaces this one in the same process: the file at its path at that time, with the same arguments.
struct NextProgram: Sendable {
  /// The path of this program at its start; a package may have replaced the file since then.
  let path: String
  let arguments: [String]
  let environment: [String: String]

  /// - Parameter environment: the environment of this process.
  init(environment: [String: String]) {
    path = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
    arguments = CommandLine.arguments
    // These variables were for the start of this program only.
    let used: Set = ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES", InheritedSockets.variable]
    self.environment = environment.filter { !used.contains($0.key) }
  }

  /// The maximum duration of a check.
  private static let checkTime = DispatchTimeInterval.seconds(20)

  /// Verifies that the program runs and accepts the current settings.
  ///
  /// - Throws: ``CommandFailure`` with the program's message.
  func check() async throws {
    try await withCheckedThrowingContinuation { done in
      DispatchQueue.global().async { done.resume(with: Result { try runCheck() }) }
    }
  }

  private func runCheck() throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = arguments.dropFirst() + ["--check"]
    process.environment = environment.filter { $0.key != "NOTIFY_SOCKET" }
    let errors = Pipe()
    process.standardError = errors
    process.standardOutput = FileHandle.nullDevice
    process.standardInput = FileHandle.nullDevice
    do {
      try process.run()
    } catch {
      throw CommandFailure(.failed, "\(path) can't be run: \(error.localizedDescription)")
    }
    let limit = DispatchWorkItem { process.terminate() }
    DispatchQueue.global().asyncAfter(deadline: .now() + NextProgram.checkTime, execute: limit)
    let words = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    limit.cancel()
    guard process.terminationReason == .exit, process.terminationStatus == 0 else {
      let line = words.split(separator: "\n").last ?? "it ended with \(process.terminationStatus)"
      let said = line.hasPrefix("pushcli: ") ? line.dropFirst("pushcli: ".count) : line
      throw CommandFailure(.failed, "\(path) would not start: \(said)")
    }
  }

  /// Replaces this process by the program, which takes over these sockets. No other work of this process may be in
  /// progress.
  ///
  /// - Parameter isStopAsked: returns true if the process was asked to end; called once such a request ends the process
  ///   at once. If it returns true, this call returns.
  func begin(with sockets: InheritedSockets, isStopAsked: () -> Bool) {
    let variables = environment.merging(sockets.keepForNextProgram()) { $1 }
    // The program inherits ignored signals and this thread's mask. It ignores requests to reload and to restart during
    // its start.
    for (number, request) in ServiceRequests.signals {
      signal(number, request == .stop ? SIG_DFL : SIG_IGN)
    }
    if isStopAsked() { return }
    var none = sigset_t()
    unsafe sigemptyset(&none)
    unsafe pthread_sigmask(SIG_SETMASK, &none, nil)
    var words = unsafe arguments.map { unsafe strdup($0) } + [nil]
    var pairs = unsafe variables.map { unsafe strdup("\($0.key)=\($0.value)") } + [nil]
    unsafe execve(path, &words, &pairs)
    let reason = unsafe String(cString: strerror(errno))
    Output.announce("\(path) can't be run: \(reason)")
    exit(EXIT_FAILURE)
  }
}
