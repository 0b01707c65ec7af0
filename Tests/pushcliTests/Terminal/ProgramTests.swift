import Foundation
import Glibc
import PushPolicy
import Synchronization
import Testing

@testable import pushcli

/// The phone on a real pseudo-terminal. One at a time: a process holds one terminal.
@Suite(.serialized, .timeLimit(.minutes(1))) struct ProgramTests {
  /// Both ends of a pseudo-terminal, and a thread that reads what is drawn, so that drawing never waits.
  private final class PseudoTerminal: Sendable {
    let master: Int32
    let slave: Int32

    init() throws {
      var (master, slave): (Int32, Int32) = (-1, -1)
      try #require(unsafe openpty(&master, &slave, nil, nil, nil) == 0)
      (self.master, self.slave) = (master, slave)
      // A descriptor of its own: this one ends with the slave, and what is typed afterwards must go to no other file.
      let reader = dup(master)
      try #require(reader >= 0)
      Thread.detachNewThread {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        while unsafe read(reader, &bytes, bytes.count) > 0 {}
        close(reader)
      }
    }

    deinit {
      close(slave)
      close(master)
    }

    func type(_ keys: String) {
      let bytes = Array(keys.utf8)
      _ = unsafe write(master, bytes, bytes.count)
    }

    /// Whether typed keys wait to be read.
    var isUnread: Bool {
      var count: Int32 = 0
      return unsafe ioctl(slave, UInt(FIONREAD), &count) == 0 && count > 0
    }

    var attributes: (local: tcflag_t, input: tcflag_t, output: tcflag_t) {
      var value = termios()
      _ = unsafe tcgetattr(slave, &value)
      return (value.c_lflag, value.c_iflag, value.c_oflag)
    }
  }

  private static let connected = PhoneMessage.connection(.connected(gateway: "localhost"))

  private func run(
    on pseudo: PseudoTerminal,
    messages: [PhoneMessage],
    whenPerformed: @escaping @Sendable (PhoneEffect) -> Void
  ) async throws {
    let inbox = Inbox()
    let sender = Task { for message in messages { await inbox.send(message) } }
    let terminal = Terminal(input: pseudo.slave, output: pseudo.slave, usesColour: false)
    try await Program.run(model: PhoneModel(device: "studio"), terminal: terminal, inbox: inbox) { effects, _ in
      for effect in effects { whenPerformed(effect) }
      return false
    }
    await sender.value
  }

  @Test func `a push is shown and answered, and the terminal is as it was`() async throws {
    let pseudo = try PseudoTerminal()
    let before = pseudo.attributes
    let effects = Mutex<[PhoneEffect]>([])
    try await run(on: pseudo, messages: [Self.connected, .push(Sample.push(1, alert: Sample.dinner))]) { effect in
      effects.withLock { $0.append(effect) }
      if effect == .presented(id: "push-1", parts: [.alert]) { pseudo.type("v") }
      if effect == .answer(id: "push-1", action: "view") { pseudo.type("q") }
    }
    let performed = effects.withLock { $0 }
    #expect(performed.contains(.answer(id: "push-1", action: "view")))
    #expect(performed.last == .quit)
    #expect(pseudo.attributes == before)
  }

  @Test func `a burst of 10,000 pushes is taken whole, and stored in order`() async throws {
    let pseudo = try PseudoTerminal()
    let stored = Mutex<[UInt64]>([])
    let pushes = (1...10_000).map { PhoneMessage.push(Sample.push($0, badge: Int($0), alert: Sample.done)) }
    try await run(on: pseudo, messages: pushes) { effect in
      guard case .save(.received(let push)) = effect else { return }
      stored.withLock { $0.append(push.seq) }
      if push.seq == 10_000 { pseudo.type("q") }
    }
    #expect(stored.withLock { $0 } == Array(1...10_000))
  }

  @Test func `a disk that is slow delays no key, and keeps messages waiting`() async throws {
    let pseudo = try PseudoTerminal()
    let (gate, opener) = AsyncStream.makeStream(of: Void.self)
    let inbox = Inbox()
    let sender = Task {
      for seq in 1...5_000 { await inbox.send(.push(Sample.push(UInt64(seq), badge: seq))) }
    }
    let terminal = Terminal(input: pseudo.slave, output: pseudo.slave, usesColour: false)
    let turns = Mutex(0)
    let highest = Mutex<UInt64>(0)
    try await Program.run(model: PhoneModel(device: "studio"), terminal: terminal, inbox: inbox) { effects, _ in
      let isFirst = turns.withLock { turns in
        turns += 1
        return turns == 1
      }
      if isFirst {
        // The key goes through the loop although this turn never ends by itself.
        pseudo.type("q")
        Task {
          while pseudo.isUnread { await Task.yield() }
          opener.yield()
        }
        for await _ in gate { break }
      }
      for case .save(.received(let push)) in effects { highest.withLock { $0 = max($0, push.seq) } }
      return false
    }
    await sender.value
    #expect(highest.withLock { $0 } < 5_000)
  }

  @Test func `the end of the terminal is the end of the phone`() async throws {
    let pseudo = try PseudoTerminal()
    let performed = Mutex<[PhoneEffect]>([])
    try await run(on: pseudo, messages: [Self.connected, .push(Sample.push(1, alert: Sample.done))]) { effect in
      performed.withLock { $0.append(effect) }
      // End-of-file without a terminal's line discipline: the input is replaced by one that has ended.
      if case .presented = effect {
        let null = unsafe open("/dev/null", O_RDONLY)
        dup2(null, pseudo.slave)
        close(null)
        pseudo.type("x")
      }
    }
    #expect(performed.withLock { $0.suffix(2) } == [.answer(id: "push-1", action: "ok"), .quit])
  }

  @Test func `a pipe is no terminal`() async {
    let terminal = unsafe Terminal(input: open("/dev/null", O_RDWR), output: STDOUT_FILENO, usesColour: false)
    #expect(throws: TerminalError.notATerminal) { try terminal.enter() }
  }
}
