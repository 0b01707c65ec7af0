import ArgumentParser
import Glibc
import PushPolicy
import Synchronization

/// `pushcli ask`: asks a user a question; the exit code is the answer.
struct Ask: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "ask", abstract: "Ask a user a question, and wait for the answer.",
    discussion: """
      Sends an alert with actions and prints the id of the chosen action. The exit code is 0 for the first action, \
      and 11, 12, … for the others. It is 1 when the alert was closed without an answer, 3 at once when the user's \
      preferences hide it, and 7 on a timeout. When quiet hours, a Focus or a summary defer the alert, the question is in the \
      notification center, and the command waits for its answer. When `ask` ends, the question is removed from all \
      screens and from the gateway. After a restart of the gateway, the question and the command continue. In a \
      cluster, they continue at another gateway: as an administrator, or with the secret of the device that was asked, if \
      this machine has it. The exit code is 6 when the gateway of this machine is the only one and does not run for two \
      minutes.

      With --escalate-to, another device or all devices of another user are asked as well when the first has not \
      answered after --after. They are asked at once when the first closed the question or can't see it. The first \
      answer counts, and removes the question from the other screens.

      With --hook, a coding agent runs the command as a hook: standard input is its permission request in JSON, and \
      standard output is the answer of the user in its format. Without an answer the agent shows its own prompt. The \
      question ends when the agent ends. docs/send/agents.md has the settings of an agent.

      Examples:
        pushcli ask --to me/com.example.builds --title "Deploy to Production?" \\
          --action approve=Approve --action reject=Reject! --timeout 5m && ./deploy
        pushcli ask --to me/com.example.builds --title "Ready?" \\
          --action yes=Ready --timeout 1h --repeat
        pushcli ask --to ops/com.example.ops --title "Who Takes It?" \\
          --action mine=Mine
        pushcli ask --to ann/com.example.ops --title "Restart the Database?" \\
          --action yes=Restart! --timeout 1h --escalate-to bob --after 2m
        pushcli ask --hook --to me/com.example.agents --timeout 5m < request.json
      """)

  @Option(help: "DEVICE/TOPIC, or GROUP/TOPIC, by the names of this gateway.", completion: CompletionCandidates.targets)
  var to: String
  @Option(name: .shortAndLong, help: "The question.") var title: String?
  @Option(name: .shortAndLong, help: "More words.") var body: String?
  @Option(help: "id=Title, or id=Title! for a destructive one; up to four.") var action: [ActionArgument] = []
  @Option(help: "The sound's name, or none.", completion: CompletionCandidates.sounds) var sound = "default"
  @Option(help: "How long to wait: 30s, 5m, 2h.") var timeout = "5m"
  @Flag(name: .customLong("repeat"), help: "Ask again when the alert is closed, until somebody answers.")
  var repeats = false
  @Option(help: "A further device or user to ask when there is no answer.") var escalateTo: String?
  @Option(help: "With --escalate-to: how long the first has for an answer. (2m, or half of --timeout)") var after:
    String?
  @Flag(help: "Answer the permission request of a coding agent on standard input, in its format.") var hook = false
  @OptionGroup var signing: SigningOptions
  @OptionGroup var gateway: GatewayOptions
  @OptionGroup var format: FormatOptions

  func validate() throws {
    if !QuestionRequest.isTarget(to) { throw ValidationError("--to is DEVICE/TOPIC, not \"\(to)\"") }
    if after != nil, escalateTo == nil {
      throw ValidationError("--after needs --escalate-to, the device or user to ask next")
    }
    if hook {
      guard title == nil, body == nil, action.isEmpty, !format.json else {
        throw ValidationError("--hook has the agent's text and form: leave --title, --body, --action and --json out")
      }
      return
    }
    if !(1...4).contains(action.count) { throw ValidationError("--action is given one to four times") }
    guard let title else { throw ValidationError("--title is missing: it is the question") }
    if title.isEmpty { throw ValidationError("--title is the question, and empty") }
  }

  func run() async throws {
    if hook { return try await answerHook() }
    let body = try body == "-" ? StandardInput.text() : body
    let question = try await request(title: title ?? "", body: body, actions: action.map(\.action)).open()
    let found = try await Ask.settle(question)
    try report(found.outcome, found.id)
  }

  /// Returns the question with these texts and actions.
  func request(title: String, body: String?, actions: [AlertAction]) -> QuestionRequest {
    QuestionRequest(
      to: to, title: title, body: body, actions: actions, sound: sound, timeout: timeout, repeats: repeats,
      escalateTo: escalateTo, after: after, signing: signing, gateway: gateway)
  }

  /// Asks, and waits for the outcome. A signal removes the question from all screens and ends the process.
  ///
  /// - Parameter output: a descriptor whose reader has the effect of a signal when it is gone; nil for none.
  static func settle(
    _ question: Question, reader output: Int32? = nil
  ) async throws -> (id: String, outcome: QuestionProgress.Outcome) {
    let stops = StopSignals(also: [SIGHUP], reader: output)
    let isInterrupted = Atomic(false)
    let stopping = Task {
      guard await stops.next() != nil else { return }
      isInterrupted.store(true, ordering: .relaxed)
      await question.takeBack()
      Ask.exit(withError: ExitCode(Exit.interrupted.rawValue))
    }
    defer { stopping.cancel() }
    let found: (id: String, outcome: QuestionProgress.Outcome)
    do {
      found = try await question.ask()
    } catch {
      // Waits for the retraction: after an interruption, it also ends the question with an error, which the user must
      // not see.
      if isInterrupted.load(ordering: .relaxed) { await stopping.value }
      throw error
    }
    if isInterrupted.load(ordering: .relaxed) { await stopping.value }
    return found
  }

  private func report(_ outcome: QuestionProgress.Outcome, _ id: String) throws {
    let actions = action.map(\.action)
    let result = QuestionResult(outcome, id: id, actions: actions)
    if format.json { Output.json(result) } else if let picked = result.action { Output.data(picked) }
    if var failure = outcome.failure {
      if format.json { failure.message = "" }
      throw failure
    }
    if let index = actions.firstIndex(where: { $0.id == result.action }), index > 0 {
      throw ExitCode(10 + Int32(index))
    }
  }
}
