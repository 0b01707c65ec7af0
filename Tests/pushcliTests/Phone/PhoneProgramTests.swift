import Foundation
import GatewayProtocol
import PushPolicy
import Synchronization
import TerminalTesting
import TerminalUI
import Testing

@testable import pushcli

/// The full-screen client on a real pseudo-terminal.
@Suite(.timeLimit(.minutes(5))) struct PhoneProgramTests {
  private static let connected = PhoneMessage.connection(.connected(gateway: "localhost"))

  private func run(
    on pseudo: PseudoTerminal,
    messages: [PhoneMessage],
    whenPerformed: @escaping @Sendable (PhoneEffect) -> Void
  ) async throws {
    let inbox = Inbox<PhoneMessage>()
    let sender = Task { for message in messages { await inbox.send(message) } }
    let terminal = Terminal(input: pseudo.slave, output: pseudo.slave, usesColor: false)
    let program = Program(
      model: PhoneModel(device: "studio"), terminal: terminal, inbox: inbox, clock: { Sample.now })
    try await program.run { effects in
      for effect in effects {
        if case .awaitReadiness(let number, _) = effect { inbox.post(.message(.alertReady(number))) }
        whenPerformed(effect)
      }
    }
    await sender.value
  }

  @Test func `a push is shown and answered, and the terminal is as it was`() async throws {
    try await PseudoTerminal.use { pseudo in
      let before = pseudo.attributes
      let effects = Mutex<[PhoneEffect]>([])
      try await run(on: pseudo, messages: [Self.connected, .push(Sample.push(1, alert: Sample.dinner))]) { effect in
        effects.withLock { $0.append(effect) }
        if case .awaitReadiness = effect { pseudo.type("v") }
        if effect == .answer(id: "push-1", action: "view") { pseudo.type("q") }
      }
      let performed = effects.withLock { $0 }
      #expect(performed.contains(.answer(id: "push-1", action: "view")))
      #expect(performed.last == .quit)
      #expect(pseudo.attributes == before)
    }
  }

  @Test func `a burst of 10,000 pushes is taken whole, and presented in order`() async throws {
    try await PseudoTerminal.use { pseudo in
      let presented = Mutex<[String]>([])
      let pushes = (1...10_000).map { PhoneMessage.push(Sample.push($0, badge: Int($0), alert: Sample.done)) }
      try await run(on: pseudo, messages: pushes) { effect in
        guard case .presented(let id, let parts) = effect, parts.contains(.badge) else { return }
        presented.withLock { $0.append(id) }
        if id == "push-10000" { pseudo.type("\u{3}") }
      }
      #expect(presented.withLock { $0 } == (1...10_000).map { "push-\($0)" })
    }
  }

  @Test func `the end of the terminal is the end of the phone`() async throws {
    try await PseudoTerminal.use { pseudo in
      let performed = Mutex<[PhoneEffect]>([])
      try await run(on: pseudo, messages: [Self.connected, .push(Sample.push(1, alert: Sample.done))]) { effect in
        performed.withLock { $0.append(effect) }
        if case .awaitReadiness = effect { pseudo.end() }
      }
      #expect(performed.withLock { $0.suffix(2) } == [.answer(id: "push-1", action: "ok"), .quit])
    }
  }
}
