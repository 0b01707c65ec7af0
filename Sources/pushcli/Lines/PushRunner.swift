import Foundation
import GatewayClient
import GatewayProtocol
import PushPolicy
import TerminalUI

/// Runs a person's command for pushes, some at a time.
struct PushRunner: Sendable {
  var command: String
  /// How many run at a time.
  var jobs: Int
  /// Whether a command that ends with another code than 0 is run again.
  var repeatsUntilSuccess: Bool

  /// Runs it for each push; `done` is told the number up to which all have ended.
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
      let code = try await push.run(command)
      if code == 0 { return }
      guard repeatsUntilSuccess else { return Output.words("pushcli: the command ended with \(code)") }
      let pause = backoff.next()
      Output.words("pushcli: the command ended with \(code); once more in \(pause.inSeconds)")
      try await Task.sleep(for: pause)
    }
  }
}

/// One push, as a command gets it.
struct PushCommand: Sendable {
  let seq: UInt64
  /// `PUSH_…`. Texts are safe to print; as they were sent they stand in the JSON.
  let environment: [String: String]
  /// The gateway's JSON, for its standard input.
  let line: [UInt8]

  init(_ push: DevicePush) {
    seq = push.seq
    line = push.line
    let presentation = push.presentation
    environment = [
      "PUSH_SEQ": String(push.seq), "PUSH_ID": push.id, "PUSH_TOPIC": push.topic,
      "PUSH_APP": Sanitizer.line(push.app.name), "PUSH_THREAD": Sanitizer.line(push.threadID),
      "PUSH_TITLE": Sanitizer.line(presentation.alert?.title ?? ""),
      "PUSH_SUBTITLE": Sanitizer.line(presentation.alert?.subtitle ?? ""),
      "PUSH_BODY": Sanitizer.body(presentation.alert?.body ?? ""),
      "PUSH_BADGE": presentation.badge.map { String($0) } ?? "", "PUSH_SOUND": presentation.sound?.name ?? "",
    ]
  }

  /// Runs `command` in a shell and returns its exit code. What it prints goes where our own output goes.
  func run(_ command: String) async throws -> Int32 {
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
      // A command that does not read has ended its pipe, which is its right.
      try? input.fileHandleForWriting.write(contentsOf: Data(line + [UInt8(ascii: "\n")]))
      try? input.fileHandleForWriting.close()
    }
  }
}
