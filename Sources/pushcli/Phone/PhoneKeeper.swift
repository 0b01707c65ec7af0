import GatewayClient
import GatewayProtocol
import PushCore
import PushPolicy
import TerminalUI

/// Keeps the device's history, and carries the phone's effects out, one turn's after the other's.
actor PhoneKeeper {
  private let journal: PhoneJournal
  private let session: DeviceSession
  private let environment: PhoneEnvironment
  private let sender: PushSending?
  private let inbox: Inbox<PhoneMessage>
  /// The numbering of the gateway's pushes.
  private var numbering: NumberingEpoch?
  /// How many changes of the screen are in the history, and of how many it knows that.
  private var (savedCount, reportedCount) = (0, 0)
  /// Whether it is known already when answers are told again.
  private var isRepeating = false
  /// How many saves have failed and are tried again.
  private var failingCount = 0
  /// Whether the screen ends with a save that failed: no later one is tried.
  private var hasGivenUp = false

  init(
    _ journal: sending PhoneJournal, _ session: DeviceSession, _ environment: PhoneEnvironment, _ sender: PushSending?,
    _ inbox: Inbox<PhoneMessage>
  ) {
    numbering = journal.state.epoch
    self.journal = journal
    self.session = session
    self.environment = environment
    self.sender = sender
    self.inbox = inbox
  }

  /// First on disk here; then the rest.
  func perform(_ effects: [PhoneEffect]) async {
    let changes = effects.compactMap { if case .save(let change) = $0 { change } else { nil } }
    if !changes.isEmpty {
      let isSaved = await store(isLast: effects.contains(.quit)) {
        try journal.append(changes)
        savedCount += changes.count
      }
      guard isSaved else { return }
    }
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
      case .awaitTurn: post(.turned, after: PhoneKeeper.turnTime)
      case .awaitPause: post(.paused, after: PhoneKeeper.pauseTime)
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
  }

  // MARK: The history

  /// Returns when pushes are on disk here, which are the gateway's no longer then.
  func receive(_ pushes: [DevicePush]) async {
    guard await store({ try journal.receive(pushes, of: numbering) }) else { return }
    let last = pushes.reduce(0) { max($0, $1.seq) }
    try? session.store(last)
    session.sendAcknowledgement(last)
  }

  /// The gateway numbers pushes so from now on; the numbers before are none of its own.
  func renumber(_ epoch: NumberingEpoch?) async {
    numbering = epoch
    guard await store({ try journal.renumber(epoch) }) else { return }
    try? session.begin(epoch)
  }

  func noteGap(_ dropped: Int, through last: UInt64) async {
    _ = await store { try journal.noteGap(dropped, through: last) }
  }

  /// Takes in what other screens of the device have done.
  func refresh() async { _ = await store { try journal.refresh() } }

  /// Whether something is on disk. A save that fails is tried again, and the gateway is sent no acknowledgement until then.
  ///
  /// The first failure of all saves is shown, and their success. The last save of a screen, and a save of a task that is canceled,
  /// is not tried again: the screen ends.
  private func store(isLast: Bool = false, _ body: () throws -> Void) async -> Bool {
    var failures = 0
    while !hasGivenUp {
      do {
        try await withJournal(body)
        if failures > 0 {
          failingCount -= 1
          if failingCount == 0 { inbox.post(.message(.notice("Saved"))) }
        }
        return true
      } catch {
        hasGivenUp = hasGivenUp || isLast || Task.isCancelled
        if hasGivenUp { break }
        if failures == 0 {
          if failingCount == 0 { inbox.post(.message(.notice("\(error)"))) }
          failingCount += 1
        }
        failures += 1
        try? await Task.sleep(for: PhoneKeeper.pause(after: failures))
      }
    }
    return false
  }

  /// The pause after this many failures of a save: a second, doubled by each further failure up to a minute.
  static func pause(after failures: Int) -> Duration { .seconds(min(1 << min(max(failures - 1, 0), 6), 60)) }

  /// Does something with the journal when no other screen writes it.
  private func withJournal(_ body: () throws -> Void) async throws {
    while true {
      do {
        defer { report() }
        return try body()
      } catch let use as JournalInUse {
        try await use.waitForEnd()
      }
    }
  }

  /// How many of its changes a screen is told at once to be in the history.
  private static let reportStep = 64

  /// Hands what has happened to the history on to the screen, at once, so that it comes in its order.
  private func report() {
    let news = journal.takeNews()
    var messages = news.arrivals.compactMap { change -> PhoneMessage? in
      switch change {
      case .received(let push): .push(push)
      case .gap(let dropped): .gap(dropped: dropped)
      default: nil
      }
    }
    if news.isChanged || savedCount - reportedCount >= PhoneKeeper.reportStep {
      messages.append(.stored(count: savedCount, history: news.isChanged ? journal.state : nil))
      reportedCount = savedCount
    }
    if let notice = news.notice { messages.append(.notice(notice)) }
    inbox.append(messages)
    if news.hasAnswers { repeatAnswers() }
  }

  // MARK: The rest

  /// How long after an answer the gateway is told it again, unless it has said that it has it.
  private static let answerInterval = Duration.seconds(15)

  private func answer(_ id: String, _ action: String) {
    guard session.answer(id, action) else { return inbox.post(.message(.answered(id: id, action: nil))) }
    repeatAnswers()
  }

  /// Has answers be sent again after a while, unless the gateway has them then.
  private func repeatAnswers() {
    guard !isRepeating else { return }
    isRepeating = true
    Task {
      try? await Task.sleep(for: PhoneKeeper.answerInterval)
      isRepeating = false
      inbox.post(.message(.answersDue))
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
