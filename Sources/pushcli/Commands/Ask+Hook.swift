import Glibc

extension Ask {
  /// Asks about the permission request on standard input, and prints the answer in the agent's format.
  ///
  /// Without an answer, for any reason, the decision is the agent's own. The exit code is then 0 as well, since 2 would
  /// refuse the request.
  ///
  /// - Throws: ``CommandFailure`` if the input is not a permission request.
  func answerHook() async throws {
    let request: HookRequest
    do {
      request = try HookRequest(parsing: try StandardInput.message())
    } catch {
      throw CommandFailure(.failed, CommandFailure(any: error).message)
    }
    let decision = await decide(request)
    if case .undecided(let reason) = decision { Output.words("pushcli: \(reason)") }
    if let answer = request.format.answer(decision) { Output.json(answer) }
  }

  private func decide(_ hook: HookRequest) async -> HookDecision {
    do {
      let question = try await request(title: hook.title, body: hook.body, actions: HookRequest.actions).open()
      let outcome = try await Ask.settle(question, reader: STDOUT_FILENO).outcome
      return Ask.decision(outcome)
    } catch {
      return .undecided(CommandFailure(any: error).message)
    }
  }

  /// Returns the decision of a question's outcome: only the two actions of the question decide.
  static func decision(_ outcome: QuestionProgress.Outcome) -> HookDecision {
    switch outcome {
    case .answered("allow", let device): .allow("allowed on \(device)")
    case .answered("deny", let device): .deny("denied on \(device)")
    default: .undecided(outcome.failure?.message ?? "the answer is unknown")
    }
  }
}
