import Foundation
import GatewayClient
import GatewayProtocol
import PushCore
import PushPolicy
import TerminalUI

/// Runs a user's commands for pushes, several at a time.
struct PushRunner: Sendable {
  var commands: ExecCommands
  /// The maximum number of commands that run at a time.
  var jobs: Int
  /// True if a command is run again until its exit code is 0.
  var repeatsUntilSuccess: Bool

  /// Runs the command of each push; `done` receives the number up to which all commands have ended.
  func run(_ pushes: [PushCommand], done: (UInt64) throws -> Void) async throws {
    var isDone = [Bool](repeating: false, count: pushes.count)
    var firstOpen = 0
    try await withThrowingTaskGroup(of: Int.self) { group in
      var next = 0
      func start() {
        guard next < pushes.count else { return }
        let (index, push) = (next, pushes[next])
        next += 1
        group.addTask {
          try await run(push)
          return index
        }
      }
      for _ in 0..<jobs { start() }
      while let index = try await group.next() {
        isDone[index] = true
        start()
        let before = firstOpen
        while firstOpen < isDone.count, isDone[firstOpen] { firstOpen += 1 }
        let seqs = pushes[before..<firstOpen].map(\.seq)
        if let last = seqs.max(), last > 0 { try done(last) }
      }
    }
  }

  private func run(_ push: PushCommand) async throws {
    var backoff = Backoff(first: .seconds(1), last: .seconds(60))
    while true {
      let code = try await push.run()
      if code == 0 { return }
      guard repeatsUntilSuccess else { return Output.words("pushcli: the command ended with \(code)") }
      let pause = backoff.next()
      Output.words("pushcli: the command ended with \(code); once more in \(pause.inSeconds)")
      try await Task.sleep(for: pause)
    }
  }
}

/// The input of a command for one push, or for the answer to one.
struct PushCommand: Sendable {
  let seq: UInt64
  /// The shell command; nil if the user has none for this push.
  let command: String?
  /// The variables `PUSH_…`. Their texts are safe to print; the JSON contains the original texts.
  var environment: [String: String]
  /// The gateway's JSON, for the command's standard input.
  let line: [UInt8]

  init(_ push: DevicePush, _ command: String?) {
    seq = push.seq
    line = push.line
    self.command = command
    let presentation = push.presentation
    environment = [
      "PUSH_EVENT": "push", "PUSH_SEQ": String(push.seq), "PUSH_ID": push.id, "PUSH_TOPIC": push.topic,
      "PUSH_RECEIVED": Timestamp.text(push.received, .seconds), "PUSH_LEVEL": push.level.rawValue,
      "PUSH_LINK": push.link ?? "",
      "PUSH_APP": Sanitizer.line(push.app.name), "PUSH_ICON": Sanitizer.line(push.app.icon),
      "PUSH_THREAD": Sanitizer.line(push.threadID), "PUSH_COLLAPSE_ID": Sanitizer.line(push.collapseID),
      "PUSH_PRESENTED": presentation.parts.map(\.rawValue).joined(separator: " "),
      "PUSH_BADGE": presentation.badge.map { String($0) } ?? "", "PUSH_SOUND": presentation.sound ?? "",
    ]
    let alert = presentation.listed
    environment["PUSH_TITLE"] = Sanitizer.line(alert?.title ?? "")
    environment["PUSH_SUBTITLE"] = Sanitizer.line(alert?.subtitle ?? "")
    environment["PUSH_BODY"] = Sanitizer.body(alert?.body ?? "")
    let answers = presentation.alert?.linearChoices.map(\.id) ?? []
    environment["PUSH_ANSWERS"] = Sanitizer.line(answers.joined(separator: " "))
  }

  /// Makes the input of a command for the user's answer to a push.
  init(_ push: DevicePush, answer: String, _ command: String?) {
    self.init(push, command)
    environment["PUSH_EVENT"] = "answered"
    environment["PUSH_ANSWER"] = Sanitizer.line(answer)
  }

  /// Makes the input of a command for a push that the device has to remove from its screen.
  ///
  /// - Parameter topic: its topic; empty if the gateway does not send it.
  init(retracted id: String, topic: String, _ command: String?) {
    (seq, self.command) = (0, command)
    environment = ["PUSH_EVENT": "retracted", "PUSH_ID": Sanitizer.line(id), "PUSH_TOPIC": Sanitizer.line(topic)]
    line = Array("{}".utf8)
  }

  /// Runs the command in a shell and returns its exit code; 0 without a command. The command inherits the standard
  /// output of this process.
  func run() async throws -> Int32 {
    guard let command else { return 0 }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-c", command]
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    let input = Pipe()
    process.standardInput = input
    return try await withCheckedThrowingContinuation { continuation in
      process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
      do {
        try process.run()
      } catch {
        process.terminationHandler = nil
        return continuation.resume(throwing: CommandFailure(.failed, "/bin/sh can't be started: \(error)"))
      }
      // A command that does not read its input has closed the pipe, which is permitted.
      try? input.fileHandleForWriting.write(contentsOf: Data(line + [UInt8(ascii: "\n")]))
      try? input.fileHandleForWriting.close()
    }
  }
}
