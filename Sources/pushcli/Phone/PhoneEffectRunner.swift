import GatewayClient
import GatewayProtocol
import PushCore
import PushPolicy
import TerminalUI

/// Keeps the device's history and performs the phone's effects, one batch after the other.
actor PhoneEffectRunner {
  private let journal: PhoneJournal
  private let session: DeviceSession
  private let environment: PhoneEnvironment
  private let sender: PushSending?
  private let inbox: Inbox<PhoneMessage>
  /// The numbering of the gateway's pushes.
  private var numbering: NumberingEpoch?
  /// The number of this screen's changes in the history, and the number that was last reported to the screen.
  private var (savedCount, reportedCount) = (0, 0)
  /// True while a repetition of the pending answers is scheduled.
  private var isRepeating = false
  /// The number of saves that have failed and are retried.
  private var failingCount = 0
  /// True if the last save of the screen failed or a save was canceled; no later save is attempted.
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

  /// Performs effects: first saves the changes on disk, then performs the rest.
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
      // Of several sounds in one batch, the first one with the highest urgency is played.
      case .play(let name, let volume, let urgency):
        if sound.map({ urgency > $0.urgency }) ?? true { sound = (name, volume, urgency) }
      case .state(let isSilent, let focus): session.set(silent: isSilent, focus: focus)
      case .change(let change): ask(for: change)
      case .awaitReadiness(let number, let time): post(.alertReady(number), after: time)
      case .awaitTurn: post(.turned, after: PhoneEffectRunner.turnTime)
      case .awaitPause: post(.paused, after: PhoneEffectRunner.pauseTime)
      case .retry: session.retry()
      case .mouse(let isTaken): environment.takeMouse(isTaken)
      case .send(let draft): send(draft)
      case .reportAd(let push): report(push)
      case .unsubscribe(let push): unsubscribe(from: push)
      case .notify(let app, let title, let body): environment.notify(app: app, title: title, body: body)
      case .copy(let text):
        let inbox = inbox
        environment.copy(text) { inbox.post(.message(.notice($0))) }
      case .open(let push): environment.open(push)
      case .openLink(let push): environment.openLink(push)
      case .saveAttachment(let attachment): save(attachment)
      }
    }
    if let sound { environment.sounds.play(sound.name, volume: sound.volume, urgency: sound.urgency) }
  }

  // MARK: The history

  /// Saves pushes, and acknowledges them to the gateway when they are on disk.
  func receive(_ pushes: [DevicePush]) async {
    guard await store({ try journal.receive(pushes, of: numbering) }) else { return }
    let last = pushes.reduce(0) { max($0, $1.seq) }
    try? session.store(last)
    session.sendAcknowledgement(last)
  }

  /// Records the gateway's new numbering of pushes; earlier numbers do not belong to it.
  func renumber(_ epoch: NumberingEpoch?) async {
    numbering = epoch
    guard await store({ try journal.renumber(epoch) }) else { return }
    try? session.begin(epoch)
  }

  func noteGap(_ dropped: Int, through last: UInt64) async {
    _ = await store { try journal.noteGap(dropped, through: last) }
  }

  /// Reads the changes of the device's other screens.
  func refresh() async { _ = await store { try journal.refresh() } }

  /// Saves to the journal and returns true if the data is on disk. A failed save is retried, and the gateway receives
  /// no acknowledgement until it succeeds.
  ///
  /// The screen shows the first failure of all saves, and their success. The last save of a screen and a save of a
  /// canceled task are not retried, because the screen ends.
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
        try? await Task.sleep(for: PhoneEffectRunner.pause(after: failures))
      }
    }
    return false
  }

  /// Returns the pause after this number of failures of a save: one second, doubled by each further failure, at most
  /// a minute.
  static func pause(after failures: Int) -> Duration { .seconds(min(1 << min(max(failures - 1, 0), 6), 60)) }

  /// Runs `body` with the journal as soon as no other screen writes it.
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

  /// The number of changes after which a screen receives a report that they are in the history.
  private static let reportStep = 64

  /// Sends the changes of the history to the screen synchronously, so that their order is kept.
  private func report() {
    let news = journal.takeNews()
    var messages = news.arrivals.compactMap { change -> PhoneMessage? in
      switch change {
      case .received(let push): .push(push)
      case .gap(let dropped): .gap(dropped: dropped)
      default: nil
      }
    }
    if news.isChanged || savedCount - reportedCount >= PhoneEffectRunner.reportStep {
      messages.append(.stored(count: savedCount, history: news.isChanged ? journal.state : nil))
      reportedCount = savedCount
    }
    if let notice = news.notice { messages.append(.notice(notice)) }
    inbox.append(messages)
    if news.hasAnswers { repeatAnswers() }
  }

  // MARK: Answers, timers and requests

  /// The time after which an answer is sent again unless the gateway has confirmed it.
  private static let answerInterval = Duration.seconds(15)

  private func answer(_ id: String, _ action: String) {
    guard session.answer(id, action) else { return inbox.post(.message(.answered(id: id, action: nil))) }
    repeatAnswers()
  }

  /// Schedules a repetition of the answers that the gateway has not confirmed by then.
  private func repeatAnswers() {
    guard !isRepeating else { return }
    isRepeating = true
    Task {
      try? await Task.sleep(for: PhoneEffectRunner.answerInterval)
      isRepeating = false
      inbox.post(.message(.answersDue))
    }
  }

  /// The time within which alerts count as one burst.
  private static let pauseTime = Duration.milliseconds(500)
  /// The time between two frames of the progress indicator.
  private static let turnTime = Duration.milliseconds(120)

  private func post(_ message: PhoneMessage, after time: Duration) {
    let inbox = inbox
    Task {
      try? await Task.sleep(for: time)
      inbox.post(.message(message))
    }
  }

  private func ask(for change: PreferencesRequest) {
    let session = session
    attempt(.saving) {
      try await session.change(change)
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

  private func unsubscribe(from push: DevicePush) {
    let session = session
    attempt(.saving) {
      try await session.change(
        PreferencesRequest(settings: ["marketing=off"], app: push.topic, category: nil, push: push.id))
      return "No more marketing from \(push.app.name): the settings can turn it on again"
    }
  }

  private func save(_ attachment: AttachmentReference) {
    let session = session
    attempt(.saving) {
      let content = try await session.attachment(attachment.id)
      let folder = DownloadFolder.path
      do {
        let path = try DownloadFolder.save(content, as: attachment.name, in: folder)
        return "Saved \(path)"
      } catch {
        throw CommandFailure(.failed, "the attachment can't be saved in \(folder): \(error)")
      }
    }
  }

  private func send(_ draft: PushDraft) {
    guard let sender else { return }
    attempt(.sending) { try await sender(draft) }
  }

  /// Runs a slow operation in a separate task, and posts its result to the screen.
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
