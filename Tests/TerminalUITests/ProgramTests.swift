import Glibc
import Synchronization
import TerminalTesting
import Testing

@testable import TerminalUI

/// A model other than the phone: it adds numbers and counts keys.
private struct Counter: ProgramModel, Equatable {
  enum Message: Sendable, Equatable {
    case input(TerminalInput)
    case add(Int)
  }

  enum Effect: Sendable, Equatable {
    case show(Int)
    case quit
  }

  /// The sum.
  var state = 0
  var keys = 0
  var size = Size(columns: 0, rows: 0)
  var times: [Int] = []

  static let quit = Effect.quit

  static func message(for input: TerminalInput) -> Message { .input(input) }

  mutating func update(_ message: Message, now: Int) -> [Effect] {
    times.append(now)
    switch message {
    case .add(let number): state += number
    case .input(.key(.character("q"))), .input(.terminate): return [.quit]
    case .input(.key): keys += 1
    case .input(.resized(let size)): self.size = size
    case .input(.focus), .input(.tick), .input(.mouse), .input(.background), .input(.line): return []
    }
    return [.show(state)]
  }

  func view(size: Size) -> Frame {
    var frame = Frame(size: size)
    frame.write("\(state) after \(keys) keys", column: 0, row: 0)
    return frame
  }
}

/// The program with a model other than the phone, on a real pseudo-terminal.
@Suite(.timeLimit(.minutes(5))) struct ProgramTests {
  private func run(
    on pseudo: PseudoTerminal, _ inbox: Inbox<Counter.Message>, perform: @escaping EffectQueue<Counter>.Perform
  ) async throws {
    let clock = Mutex(0)
    let terminal = Terminal(input: pseudo.slave, output: pseudo.slave, usesColor: false)
    try await Program(model: Counter(), terminal: terminal, inbox: inbox) {
      clock.withLock { clock in
        clock += 1
        return clock
      }
    }.run(perform: perform)
  }

  @Test func `any model runs: messages and keys change it, effects are carried out in order`() async throws {
    try await PseudoTerminal.use { pseudo in
      let before = pseudo.attributes
      let inbox = Inbox<Counter.Message>()
      let sums = Mutex<[Int]>([])
      let sender = Task { for number in 1...10_000 { await inbox.send(.add(number)) } }
      try await run(on: pseudo, inbox) { effects in
        for case .show(let sum) in effects {
          sums.withLock { $0.append(sum) }
          if sum == 50_005_000 { pseudo.type("q") }
        }
      }
      await sender.value
      let expected = (1...10_000).reduce(into: [0]) { $0.append(($0.last ?? 0) + $1) }
      #expect(sums.withLock { $0 } == expected)
      #expect(pseudo.attributes == before)
    }
  }

  @Test func `effects that are slow delay no key, and keep messages waiting`() async throws {
    try await PseudoTerminal.use { pseudo in
      let inbox = Inbox<Counter.Message>()
      let sender = Task { for _ in 1...5_000 { await inbox.send(.add(1)) } }
      let turns = Mutex(0)
      let highest = Mutex(0)
      try await run(on: pseudo, inbox) { effects in
        let isFirst = turns.withLock { turns in
          turns += 1
          return turns == 1
        }
        if isFirst {
          // The loop handles the key although this step ends only after it: the end of the loop resumes the sender.
          pseudo.type("q")
          await sender.value
        }
        for case .show(let sum) in effects { highest.withLock { $0 = max($0, sum) } }
      }
      #expect(highest.withLock { $0 } < 5_000)
    }
  }

  @Test func `effects that pause end their pause when the program ends, and the effects after them are carried out`()
    async throws
  {
    try await PseudoTerminal.use { pseudo in
      let performed = Mutex<[Counter.Effect]>([])
      try await run(on: pseudo, Inbox()) { effects in
        performed.withLock { $0 += effects }
        guard effects.contains(.show(0)) else { return }
        pseudo.type("q")
        // A pause without an end, like that of a save on a full disk.
        for await _ in AsyncStream<Void>.makeStream().stream {}
      }
      #expect(performed.withLock { $0.last } == .quit)
    }
  }

  @Test func `the end of the terminal is the end of the program`() async throws {
    try await PseudoTerminal.use { pseudo in
      let performed = Mutex<[Counter.Effect]>([])
      try await run(on: pseudo, Inbox()) { effects in
        performed.withLock { $0 += effects }
        if effects.contains(.show(0)) { pseudo.end() }
      }
      #expect(performed.withLock { $0.last } == .quit)
    }
  }

  @Test func `a task that is cancelled asks its program to end`() async throws {
    try await PseudoTerminal.use { pseudo in
      let (shown, begins) = AsyncStream.makeStream(of: Void.self)
      let task = Task {
        try await run(on: pseudo, Inbox()) { _ in
          begins.yield()
        }
      }
      for await _ in shown { break }
      task.cancel()
      try await task.value
    }
  }

  @Test func `a pipe is no terminal`() async {
    let terminal = unsafe Terminal(input: open("/dev/null", O_RDWR), output: STDOUT_FILENO, usesColor: false)
    #expect(throws: TerminalError.notATerminal) { try terminal.enter() }
  }
}
