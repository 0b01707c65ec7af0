import Foundation
import GatewayClient
import GatewayProtocol
import Glibc
import PushPolicy
import Queues
import Synchronization

/// The device without a screen: writes pushes to standard output as lines, and runs a command for them if there is one.
struct LineReceiver {
  enum Form { case json, plain }

  let session: DeviceSession
  let form: Form
  /// The number of pushes to receive; nil for all.
  let maximumCount: Int?
  /// True if the device tries again when the gateway can't be reached at the beginning.
  let waits: Bool
  let runner: PushRunner?
  private let output = LineOutput()
  private let parser = JSONParser(maximumDepth: JSONParser.maximumLineDepth)

  func run() async throws {
    let turn = ShowingTurn()
    let stops = StopSignals()
    let questions = form == .plain && isatty(STDIN_FILENO) == 1 && maximumCount == nil ? Questions(session) : nil
    let session = session
    let stopping = Task {
      guard await stops.next() != nil else { return }
      await turn.stop()
      questions?.leave()
      session.finish()
      await session.waitForConfirmation()
      Foundation.exit(Exit.interrupted.rawValue)
    }
    defer { stopping.cancel() }

    if form == .json { output.recover(after: session.cursorValue) }
    var received = 0
    let queue = session.events()
    questions?.read(into: queue)
    while let events = await queue.take() {
      guard turn.begin() else { continue }
      // A burst of pushes needs one write, one save and one acknowledgement.
      var batch = PushBatch()
      for event in events {
        if case .pushes(let pushes) = event {
          batch.append(pushes)
          continue
        }
        received += try await deliver(batch, after: received, questions)
        batch = PushBatch()
        try await say(event, questions)
      }
      received += try await deliver(batch, after: received, questions)
      turn.end()
      if received == maximumCount { session.finish() }
    }
    // The stopping task also ends the process.
    if turn.isStopping { await stopping.value }
    await session.waitForConfirmation()
  }

  /// Shows the pushes, runs their commands, stores and acknowledges them; returns the number of shown pushes.
  private func deliver(_ pushes: PushBatch, after received: Int, _ questions: Questions?) async throws -> Int {
    let news = output.news(in: pushes)
    let shown = news.prefix(maximumCount.map { max(0, $0 - received) } ?? .max)
    // Pushes that were already written under another number are stored, too.
    let last = shown.lines.count == news.lines.count ? pushes.lastSeq : shown.lastSeq
    guard !shown.lines.isEmpty || last > 0 else { return 0 }
    try await show(shown, questions)
    try store(last)
    return shown.lines.count
  }

  /// Shows pushes and runs the commands for them.
  private func show(_ pushes: PushBatch, _ questions: Questions?) async throws {
    guard !pushes.lines.isEmpty else { return }
    let missing = output.missing(from: pushes)
    switch form {
    case .json: output.write(json: missing.bytes)
    case .plain: write(missing, questions)
    }
    guard let runner else { return }
    // A command that a crash has interrupted runs again, even if the file contains its push.
    var commands: [PushCommand] = []
    pushes.forEachLine { _, line in
      if let push = DevicePush(line: line, parser: parser) {
        commands.append(PushCommand(push, runner.commands.command(for: push)))
      }
    }
    try await runner.run(commands) { try store($0) }
  }

  private func write(_ pushes: PushBatch, _ questions: Questions?) {
    var paragraphs = ""
    pushes.forEachLine { _, line in
      guard let push = DevicePush(line: line, parser: parser) else { return }
      paragraphs += PlainText.paragraph(for: push)
      session.presented(push.id, push.presentation.parts)
      questions?.add(push)
    }
    output.write(paragraphs: paragraphs)
    questions?.ask()
  }

  /// Stores the number of the last written push and acknowledges it. The content of a file is synced to disk before the
  /// number is stored.
  private func store(_ seq: UInt64) throws {
    try output.sync()
    try session.store(seq)
    try session.acknowledge(seq)
  }

  /// Runs the user's command for an answer that the gateway has confirmed.
  private func run(answer: String, to push: DevicePush) async throws {
    guard let command = runner?.commands.answered else { return }
    let code = try await PushCommand(push, answer: answer, command).run()
    if code != 0 { Output.words("pushcli: the command ended with \(code)") }
  }

  /// Runs the user's command for a push that the device has to remove from its screen.
  private func runRetracted(_ id: String, topic: String = "") async throws {
    guard let command = runner?.commands.retracted else { return }
    let code = try await PushCommand(retracted: id, topic: topic, command).run()
    if code != 0 { Output.words("pushcli: the command ended with \(code)") }
  }

  private func say(_ event: DeviceEvent, _ questions: Questions?) async throws {
    switch event {
    case .gap(let dropped, _): Output.words("pushcli: \(dropped) pushes were dropped because too many waited")
    case .disconnected where session.isRefused:
      throw session.permanentFailure.map(CommandFailure.init(device:)) ?? .init(.failed)
    case .disconnected(let reason, .zero): Output.words("pushcli: \(reason); trying another gateway")
    case .disconnected(let reason, let pause):
      if !waits, let failure = session.beginningFailure { throw CommandFailure(any: failure) }
      Output.words("pushcli: \(reason); trying again in \(pause.inSeconds)")
    case .renumbered(let epoch):
      output.renumber()
      try session.begin(epoch)
    case .connected(let gateway, _):
      Output.words("pushcli: connected to \(gateway)")
      questions?.repeatAnswers()
    case .answered(let id, let action):
      if let push = questions?.confirm(id), let action { try await run(answer: action, to: push) }
    case .retract(let id), .answeredElsewhere(let id, _):
      questions?.retract(id)
      try await runRetracted(id)
    case .takenBack(let id, let topic):
      questions?.retract(id, topic: topic)
      try await runRetracted(id, topic: topic)
    case .typed(let line): questions?.answer(line)
    case .unreadable, .undeliverable: Output.words("pushcli: \(event.wordsOfLoss ?? "")")
    case .apps, .preferences, .pushes, .ended, .connecting, .served, .caughtUp: break
    }
  }
}

/// The unanswered alerts of the linear form: one numbered question at a time (L7).
private final class Questions: Sendable {
  private let session: DeviceSession
  private let state = Mutex((waiting: [DevicePush](), asked: String?.none, since: ContinuousClock.now))
  /// The user's answers, until the gateway confirms them or this process ends.
  private let unconfirmed = Mutex<[(push: DevicePush, action: String)]>([])

  /// The time that a question must have been shown before a line counts as its answer.
  private static let readinessTime = Duration.milliseconds(500)

  init(_ session: DeviceSession) { self.session = session }

  /// Posts the lines that the user types, from a separate thread.
  func read(into queue: DeviceEvents) {
    Thread.detachNewThread {
      while let line = readLine() {
        // A user types too little to need a limit, and must not be delayed by pushes.
        queue.post(.typed(line))
      }
    }
  }

  func add(_ push: DevicePush) {
    guard push.presentation.alert != nil else { return }
    state.withLock { $0.waiting.append(push) }
  }

  /// Asks the first pending question, unless one is open.
  func ask() {
    state.withLock { state in
      guard state.asked == nil, let push = state.waiting.first else { return }
      (state.asked, state.since) = (push.id, .now)
      Output.write(SanitizedText(question: PlainText.question(for: push)), to: STDOUT_FILENO)
    }
  }

  /// Takes the user's line as an answer: a number, or the beginning of a button's title.
  func answer(_ line: String) {
    let answered = state.withLock { state -> (push: DevicePush, action: String)? in
      guard let push = state.waiting.first, state.asked == push.id else { return nil }
      guard ContinuousClock.now - state.since >= Questions.readinessTime else {
        Output.data(PlainText.tooSoon)
        return nil
      }
      let choices = push.presentation.alert?.linearChoices ?? []
      let answer = line.trimmingCharacters(in: .whitespaces).lowercased()
      let index =
        answer.isEmpty
        ? choices.startIndex
        : Int(answer).map { $0 &- 1 } ?? choices.firstIndex { $0.title.lowercased().hasPrefix(answer) }
      state.asked = nil
      guard let index, choices.indices.contains(index) else { return nil }
      state.waiting.removeFirst()
      return (push, choices[index].id)
    }
    if let answered { send(answered.push, answered.action) }
    ask()
  }

  private func send(_ push: DevicePush, _ action: String) {
    if session.answer(push.id, action) { unconfirmed.withLock { $0.append((push, action)) } }
  }

  /// Sends the answers again that the gateway has not confirmed.
  func repeatAnswers() {
    for (push, action) in unconfirmed.withLock({ $0 }) where !session.answer(push.id, action) { confirm(push.id) }
  }

  /// Removes an answer that the gateway has confirmed, and returns its push.
  @discardableResult
  func confirm(_ id: String) -> DevicePush? {
    unconfirmed.withLock { unconfirmed in
      guard let place = unconfirmed.firstIndex(where: { $0.push.id == id }) else { return nil }
      return unconfirmed.remove(at: place).push
    }
  }

  /// Removes an alert that was answered on another device or retracted by its sender.
  ///
  /// - Parameter topic: the topic of the push; nil for any.
  func retract(_ id: String, topic: String? = nil) {
    let wasAsked = state.withLock { state in
      func isOver(_ push: DevicePush) -> Bool { push.id == id && (topic == nil || push.topic == topic) }
      let wasAsked = state.waiting.contains { $0.id == state.asked && isOver($0) }
      state.waiting.removeAll(where: isOver)
      if wasAsked { state.asked = nil }
      return wasAsked
    }
    guard wasAsked else { return }
    Output.data("")
    Output.data("No longer needed: it was answered on another device, replaced or has expired.")
    ask()
  }

  /// Answers the open question with its cancelling button, as leaving does (A7).
  func leave() {
    let push = state.withLock { state in state.waiting.first { $0.id == state.asked } }
    if let push { send(push, push.presentation.alert?.linearChoices[0].id ?? "close") }
  }
}

extension DeviceSession {
  /// Waits until the gateway has read everything that was sent before ``finish()``, and reports on standard error if it
  /// has not.
  func waitForConfirmation() async {
    guard await !waitUntilFinished() else { return }
    Output.words(
      "pushcli: the gateway has not confirmed the last acknowledgement: it sends these pushes again at the next start, "
        + "and the device leaves them out")
  }
}
