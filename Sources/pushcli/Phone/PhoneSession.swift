import Foundation
import GatewayClient
import GatewayProtocol
import Glibc
import PushCore
import PushPolicy
import Queues
import Synchronization
import TerminalUI

/// The phone joined to its gateway: what happens there becomes messages, what it wants done is done here.
struct PhoneSession {
  private let session: DeviceSession
  private let device: String
  let terminal: Terminal
  private let environment: PhoneEnvironment
  private let folder: String
  let screen: Screen
  private let sender: PushSending?
  private let inbox = Inbox<PhoneMessage>()

  /// What the phone is drawn on.
  struct Screen {
    var form: TerminalCapabilities
    /// What its background is like, as far as is known before it is asked.
    var background = Appearance.dark
    /// What the person wants in place of that.
    var appearance: Appearance?
    /// Whether it takes sequences at all.
    var takesSequences = true
  }

  /// - Parameters:
  ///   - sounds: The folder of the person's own sounds.
  ///   - commands: The person's for what View opens.
  ///   - sender: Sends what the person writes, where a sender's key is at hand.
  init(
    _ session: DeviceSession, device: String, folder: StateFolder, sounds: String, commands: OpenCommands,
    screen: Screen,
    sender: PushSending?
  ) {
    self.session = session
    self.device = device
    self.screen = screen
    self.sender = sender
    let terminal = Terminal(asksBackground: screen.form.colors >= 256)
    self.terminal = terminal
    environment = PhoneEnvironment(
      terminal: terminal, commands: commands, sounds: sounds, takesSequences: screen.takesSequences)
    self.folder = folder.devicesPath
  }

  /// What shows the phone and runs it, until the person quits; it hands over the effects of each turn.
  typealias Show = (
    PhoneModel, Inbox<PhoneMessage>, @escaping @Sendable ([PhoneEffect]) async -> Void
  ) async throws -> Void

  /// Runs on the full screen, until the person quits.
  func run() async throws {
    try await run { model, inbox, perform in
      try await Program(model: model, terminal: terminal, inbox: inbox, clock: { Date() }).run(perform: perform)
    }
  }

  /// Runs in what shows it.
  func run(_ show: Show) async throws {
    let journal = try PhoneJournal(folder: folder, device: device)
    let (state, notice) = try await PhoneSession.load(journal)
    try session.resume(after: NumberedPlace(epoch: state.epoch, seq: state.lastSeq))
    var model = PhoneModel(device: device, state: state)
    (model.form, model.background, model.wantedAppearance) = (screen.form, screen.background, screen.appearance)
    model.canCompose = sender != nil
    terminal.takeMouse(state.settings.usesMouse)
    if let focus = session.focus { model.record(.settings(state.settings.with(focus: focus))) }
    session.set(silent: model.state.settings.isSilent, focus: model.state.settings.focus)
    if let notice { inbox.post(.message(.notice(notice))) }
    let watch = FileWatch(journal.path)
    let (session, inbox, changes) = (session, inbox, watch.changes)
    let keeper = PhoneKeeper(journal, session, environment, sender, inbox)
    // Threads of their own: storing waits for the disk.
    let forwarder = Task(executorPreference: SerialQueue("gateway")) {
      await PhoneSession.forward(session, inbox, keeper)
    }
    let watcher = Task(executorPreference: SerialQueue("history")) {
      // What was written before the watch began.
      await keeper.refresh()
      for await _ in changes { await keeper.refresh() }
    }
    try await show(model, inbox) { effects in await keeper.perform(effects) }
    session.finish()
    await session.waitForConfirmation()
    forwarder.cancel()
    watcher.cancel()
    withExtendedLifetime(watch) {}
  }

  /// Loads the history when no other screen writes it.
  private static func load(_ journal: PhoneJournal) async throws -> (state: PhoneState, notice: String?) {
    while true {
      do { return try journal.load() } catch let use as JournalInUse { try await use.waitForEnd() }
    }
  }

  /// Turns what happens into messages, no faster than they are taken.
  private static func forward(
    _ session: DeviceSession, _ inbox: Inbox<PhoneMessage>, _ keeper: PhoneKeeper
  ) async {
    let queue = session.events()
    let parser = JSONParser(maximumDepth: JSONParser.maximumLineDepth)
    var lastConnected: Date?
    var isConnected = false
    while let events = await queue.take() {
      for event in events {
        switch event {
        case .connecting: await inbox.send(.connection(.connecting))
        case .connected(let gateway, _):
          isConnected = true
          await inbox.send(.connection(.connected(gateway: gateway)))
        case .disconnected(let reason, let pause):
          if isConnected { lastConnected = Date() }
          isConnected = false
          let retryAt = Date() + TimeInterval(pause.components.seconds)
          guard session.isRefused else {
            await inbox.send(
              .connection(.disconnected(lastConnected: lastConnected, retryAt: retryAt, reason: reason)))
            continue
          }
          await inbox.send(.connection(.refused))
          await inbox.send(.notice(reason))
        case .apps(let apps): await inbox.send(.apps(apps))
        case .preferences(let preferences): await inbox.send(.preferences(preferences))
        case .pushes(let batch):
          await inbox.waitForRoom()
          await keeper.receive(batch.contents.compactMap { DevicePush(line: $0, parser: parser) })
        case .renumbered(let epoch): await keeper.renumber(epoch)
        case .retract(let id):
          // The answer of another screen of this device comes first.
          await keeper.refresh()
          await inbox.send(.retract(id: id))
        case .answeredElsewhere(let id, let answer):
          await keeper.refresh()
          await inbox.send(.answeredElsewhere(id: id, answer))
        case .takenBack(let id, let topic): await inbox.send(.takenBack(id: id, topic: topic))
        case .answered(let id, let action): await inbox.send(.answered(id: id, action: action))
        case .gap(let dropped, let last): await keeper.noteGap(dropped, through: last)
        case .unreadable, .undeliverable: await inbox.send(.notice(event.wordsOfLoss ?? ""))
        case .typed, .ended, .served, .caughtUp: break
        }
      }
    }
  }
}
