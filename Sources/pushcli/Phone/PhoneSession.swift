import Foundation
import GatewayClient
import GatewayProtocol
import Glibc
import PushCore
import PushPolicy
import Queues
import TerminalUI

/// Connects the phone to its gateway: converts events into messages, and performs the phone's effects.
struct PhoneSession {
  private let session: DeviceSession
  private let device: String
  let terminal: Terminal
  private let environment: PhoneEnvironment
  private let folder: String
  let screen: Screen
  private let sender: PushSending?
  private let inbox = Inbox<PhoneMessage>()

  /// The properties of the screen on which the phone is drawn.
  struct Screen {
    var form: TerminalCapabilities
    /// The appearance of the background until the terminal reports it.
    var background = Appearance.dark
    /// The appearance that the user requested instead.
    var appearance: Appearance?
    /// True if the terminal supports escape sequences.
    var takesSequences = true
  }

  /// - Parameters:
  ///   - sounds: The folder of the user's custom sounds.
  ///   - commands: The user's commands for pushes that View opens.
  ///   - sender: Sends the pushes that the user writes; nil without a sender's key.
  init(
    _ session: DeviceSession, device: String, folder: StateFolder, sounds: String, commands: ExecCommands,
    screen: Screen, sender: PushSending?
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

  /// Runs the phone on the full screen until the user quits.
  func run() async throws {
    try await run { model, inbox, perform in
      try await Program(model: model, terminal: terminal, inbox: inbox, clock: { Date() }).run(perform: perform)
    }
  }

  /// Runs the phone with the given kind of screen.
  ///
  /// - Parameter show: Shows and runs the phone until the user quits, and passes on the effects of each loop iteration.
  func run(
    _ show: (PhoneModel, Inbox<PhoneMessage>, @escaping @Sendable ([PhoneEffect]) async -> Void) async throws -> Void
  ) async throws {
    let journal = try PhoneJournal(folder: folder, device: device)
    let (state, notice) = try await PhoneSession.load(journal)
    try session.resume(after: NumberedPosition(epoch: state.epoch, seq: state.lastSeq))
    var model = PhoneModel(device: device, state: state)
    (model.form, model.background, model.requestedAppearance) = (screen.form, screen.background, screen.appearance)
    model.canCompose = sender != nil
    terminal.takeMouse(state.settings.usesMouse)
    if let focus = session.focus { model.record(.settings(state.settings.with(focus: focus))) }
    session.set(silent: model.state.settings.isSilent, focus: model.state.settings.focus)
    if let notice { inbox.post(.message(.notice(notice))) }
    let watch = FileWatch(journal.path)
    let (session, inbox, changes) = (session, inbox, watch.changes)
    let runner = PhoneEffectRunner(journal, session, environment, sender, inbox)
    // Dedicated threads, because saving blocks on the disk.
    let forwarder = Task(executorPreference: SerialQueue("gateway")) {
      await PhoneSession.forward(session, inbox, runner)
    }
    let watcher = Task(executorPreference: SerialQueue("history")) {
      // Reads the changes that were written before the watch began.
      await runner.refresh()
      for await _ in changes { await runner.refresh() }
    }
    try await show(model, inbox) { effects in await runner.perform(effects) }
    session.finish()
    await session.waitForConfirmation()
    forwarder.cancel()
    watcher.cancel()
    withExtendedLifetime(watch) {}
  }

  /// Loads the history as soon as no other screen writes it.
  private static func load(_ journal: PhoneJournal) async throws -> (state: PhoneState, notice: String?) {
    while true {
      do { return try journal.load() } catch let use as JournalInUse { try await use.waitForEnd() }
    }
  }

  /// Converts the events of the session into messages, no faster than the loop takes them.
  private static func forward(
    _ session: DeviceSession, _ inbox: Inbox<PhoneMessage>, _ runner: PhoneEffectRunner
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
          await runner.receive(batch.contents.compactMap { DevicePush(line: $0, parser: parser) })
        case .renumbered(let epoch): await runner.renumber(epoch)
        case .retract(let id):
          // The answer of another screen of this device must be read first.
          await runner.refresh()
          await inbox.send(.retract(id: id))
        case .answeredElsewhere(let id, let answer):
          await runner.refresh()
          await inbox.send(.answeredElsewhere(id: id, answer))
        case .takenBack(let id, let topic): await inbox.send(.takenBack(id: id, topic: topic))
        case .answered(let id, let action): await inbox.send(.answered(id: id, action: action))
        case .gap(let dropped, let last): await runner.noteGap(dropped, through: last)
        case .unreadable, .undeliverable: await inbox.send(.notice(event.wordsOfLoss ?? ""))
        case .typed, .ended, .served, .caughtUp: break
        }
      }
    }
  }
}
