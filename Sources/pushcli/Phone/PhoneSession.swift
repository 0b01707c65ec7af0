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

  /// How long leaving waits for the gateway to have read the last answer.
  private static let drainTimeout = Duration.seconds(1)

  /// What the phone is drawn on.
  struct Screen {
    var form: TerminalForm
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
    PhoneModel, Inbox<PhoneMessage>, @escaping @Sendable ([PhoneEffect], PhoneState?) async -> Bool
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
    let (state, notice) = try journal.load()
    try session.resume(after: NumberedPlace(epoch: state.epoch, seq: state.lastSeq))
    var model = PhoneModel(device: device, state: state)
    (model.form, model.background, model.wantedAppearance) = (screen.form, screen.background, screen.appearance)
    model.canCompose = sender != nil
    terminal.takeMouse(state.settings.usesMouse)
    if let focus = session.focus { model.record(.settings(state.settings.with(focus: focus))) }
    session.set(silent: model.state.settings.isSilent, focus: model.state.settings.focus)
    if let notice { inbox.post(.message(.notice(notice))) }
    let (session, inbox) = (session, inbox)
    let forwarder = Task { await PhoneSession.forward(session, inbox) }
    let keeper = Keeper(journal, session, environment, sender, inbox)
    try await show(model, inbox) { effects, state in await keeper.perform(effects, state) }
    session.finish()
    await session.waitUntilFinished(atMost: PhoneSession.drainTimeout)
    forwarder.cancel()
  }

  /// Turns what happens into messages, no faster than they are taken.
  private static func forward(_ session: DeviceSession, _ inbox: Inbox<PhoneMessage>) async {
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
          for line in batch.contents {
            if let push = DevicePush(line: line, parser: parser) { await inbox.send(.push(push)) }
          }
        case .renumbered(let epoch): await inbox.send(.renumbered(epoch))
        case .retract(let id): await inbox.send(.retract(id: id))
        case .takenBack(let id, let topic): await inbox.send(.takenBack(id: id, topic: topic))
        case .answered(let id, let action): await inbox.send(.answered(id: id, action: action))
        case .gap(let dropped): await inbox.send(.gap(dropped: dropped))
        case .unreadable, .undeliverable: await inbox.send(.notice(event.wordsOfLoss ?? ""))
        case .typed, .ended, .served, .caughtUp: break
        }
      }
    }
  }
}

/// Carries the phone's effects out, one turn's after the other's.
private actor Keeper {
  private let journal: PhoneJournal
  private let session: DeviceSession
  private let environment: PhoneEnvironment
  private let sender: PushSending?
  private let inbox: Inbox<PhoneMessage>
  /// Whether it is known already when answers are told again.
  private var isRepeating = false

  init(
    _ journal: sending PhoneJournal, _ session: DeviceSession, _ environment: PhoneEnvironment, _ sender: PushSending?,
    _ inbox: Inbox<PhoneMessage>
  ) {
    self.journal = journal
    self.session = session
    self.environment = environment
    self.sender = sender
    self.inbox = inbox
  }

  /// First on disk here, then no longer the gateway's; then the rest. Returns whether the next state is wanted.
  func perform(_ effects: [PhoneEffect], _ state: PhoneState?) async -> Bool {
    let changes = effects.compactMap { if case .save(let change) = $0 { change } else { nil } }
    guard await save(changes, isLast: effects.contains(.quit)) else { return false }
    if let state, journal.wantsCompaction { try? journal.compact(state) }
    store(changes)

    var sound: (name: String, volume: Int, urgency: InterruptionLevel)?
    for effect in effects {
      switch effect {
      case .save, .quit: break
      case .presented(let id, let parts): session.presented(id, parts)
      case .answer(let id, let action): answer(id, action)
      // Of several in one turn the first of the most urgent ones.
      case .play(let name, let volume, let urgency):
        if sound.map({ urgency > $0.urgency }) ?? true { sound = (name, volume, urgency) }
      case .state(let isSilent, let focus): session.set(silent: isSilent, focus: focus)
      case .change(let change): ask(for: change)
      case .awaitReadiness(let number, let time): post(.alertReady(number), after: time)
      case .awaitTurn: post(.turned, after: Keeper.turnTime)
      case .awaitPause: post(.paused, after: Keeper.pauseTime)
      case .retry: session.retry()
      case .mouse(let isTaken): environment.takeMouse(isTaken)
      case .send(let draft): send(draft)
      case .reportAd(let push): report(push)
      case .notify(let app, let title, let body): environment.notify(app: app, title: title, body: body)
      case .copy(let text):
        let inbox = inbox
        environment.copy(text) { inbox.post(.message(.notice($0))) }
      case .open(let push): environment.open(push)
      case .openLink(let push): environment.openLink(push)
      }
    }
    if let sound { environment.sounds.play(sound.name, volume: sound.volume, urgency: sound.urgency) }
    return journal.wantsCompaction
  }

  /// Tells the session, and through it the gateway, which pushes are on disk here.
  private func store(_ changes: [PhoneChange]) {
    var last: UInt64 = 0
    for change in changes {
      switch change {
      case .received(let push): last = max(last, push.seq)
      case .passed(let seq): last = max(last, seq)
      // The numbers before it are none of this gateway's.
      case .renumbered(let epoch):
        try? session.begin(epoch)
        last = 0
      default: break
      }
    }
    try? session.store(last)
    session.sendAcknowledgement(last)
  }

  /// How long after an answer the gateway is told it again, unless it has said that it has it.
  private static let answerInterval = Duration.seconds(15)

  private func answer(_ id: String, _ action: String) {
    guard session.answer(id, action) else { return inbox.post(.message(.answered(id: id, action: nil))) }
    guard !isRepeating else { return }
    isRepeating = true
    Task {
      try? await Task.sleep(for: Keeper.answerInterval)
      isRepeating = false
      inbox.post(.message(.answersDue))
    }
  }

  /// Whether the changes are on disk. A disk that is full is tried again: nothing is acknowledged or told meanwhile.
  private func save(_ changes: [PhoneChange], isLast: Bool) async -> Bool {
    var isReported = false
    while true {
      do {
        try journal.append(changes)
        if isReported { inbox.post(.message(.notice("Saved: there is room again"))) }
        return true
      } catch {
        guard !isLast else { return false }
        if !isReported { inbox.post(.message(.notice("\(error)"))) }
        isReported = true
        try? await Task.sleep(for: .seconds(1))
      }
    }
  }

  /// How long what comes counts as one burst.
  private static let pauseTime = Duration.milliseconds(500)
  /// How long the sign of what takes a while stands before it turns.
  private static let turnTime = Duration.milliseconds(120)

  private func post(_ message: PhoneMessage, after time: Duration) {
    let inbox = inbox
    Task {
      try? await Task.sleep(for: time)
      inbox.post(.message(message))
    }
  }

  private func ask(for change: PhonePreferenceChange) {
    let session = session
    attempt(.saving) {
      try await session.change(
        PreferencesRequest(settings: change.settings, app: change.app, category: change.category))
      return nil
    }
  }

  private func report(_ push: DevicePush) {
    let session = session
    attempt(.reporting) {
      try await session.report(AdReportRequest(id: push.id, topic: push.topic, text: push.text))
      return "Reported \(push.quotedHeadline) as an advertisement"
    }
  }

  private func send(_ draft: PushDraft) {
    guard let sender else { return }
    attempt(.sending) { try await sender(draft) }
  }

  /// Does what may take a while, beside all else; what comes of it is told to the person.
  private func attempt(_ activity: PhoneActivity, _ body: @escaping @Sendable () async throws -> String?) {
    let inbox = inbox
    Task {
      do {
        inbox.post(.message(.finished(activity, succeeded: true, notice: try await body())))
      } catch {
        inbox.post(.message(.finished(activity, succeeded: false, notice: "\(error)")))
      }
    }
  }
}
