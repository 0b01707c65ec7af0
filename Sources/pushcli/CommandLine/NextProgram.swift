import Dispatch
import Foundation
import Glibc
import PushGateway

/// The program that takes the place of this one in the same process: what lies at its path by then, with the same arguments.
struct NextProgram: Sendable {
  /// Where this program was when it began: a package may have put another there.
  let path: String
  let arguments: [String]
  let environment: [String: String]

  /// - Parameter environment: that of this process.
  init(environment: [String: String]) {
    path = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
    arguments = CommandLine.arguments
    // What was meant for this program's own start.
    let used: Set = ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES", InheritedSockets.variable]
    self.environment = environment.filter { !used.contains($0.key) }
  }

  /// How long a check may take.
  private static let checkTime = DispatchTimeInterval.seconds(20)

  /// Sees whether the program runs, and takes the settings as they are now.
  ///
  /// - Throws: ``CommandFailure`` with what it says.
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

  /// Becomes the program, which takes over these sockets. Nothing of this process may be at work any more.
  ///
  /// - Parameter isStopAsked: whether the process was asked to end, called once such a request ends it at once. Then this returns.
  func begin(with sockets: InheritedSockets, isStopAsked: () -> Bool) {
    let variables = environment.merging(sockets.keepForNextProgram()) { $1 }
    // The program inherits ignored signals and this thread's mask. It needs no reload and no restart while it begins.
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
