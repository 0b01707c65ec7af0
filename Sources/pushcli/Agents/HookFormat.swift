/// The decision of a user about the request of a coding agent, with the reason in words.
enum HookDecision: Equatable, Sendable {
  case allow(String)
  case deny(String)
  /// Without an answer: the agent shows its own prompt.
  case undecided(String)
}

/// A form of permission requests of coding agents: their event, and the answer. Another form is another row of ``all``.
struct HookFormat: Sendable {
  /// The value of `hook_event_name`.
  let event: String
  /// Returns the answer for standard output; nil if the agent expects no output for this decision.
  let answer: @Sendable (HookDecision) -> HookAnswer?

  static let all = [
    // Before each call of a tool. Here `ask` shows the agent's own prompt, and no output would follow its rules.
    HookFormat(event: "PreToolUse") { decision in
      var output = HookAnswer.Output(event: "PreToolUse")
      switch decision {
      case .allow(let reason): (output.permissionDecision, output.permissionDecisionReason) = ("allow", reason)
      case .deny(let reason): (output.permissionDecision, output.permissionDecisionReason) = ("deny", reason)
      case .undecided(let reason): (output.permissionDecision, output.permissionDecisionReason) = ("ask", reason)
      }
      return HookAnswer(output: output)
    },
    // When the agent would show its own prompt, which it does without output.
    HookFormat(event: "PermissionRequest") { decision in
      var output = HookAnswer.Output(event: "PermissionRequest")
      switch decision {
      case .allow: output.decision = HookAnswer.Decision(behavior: "allow")
      case .deny(let reason): output.decision = HookAnswer.Decision(behavior: "deny", message: reason)
      case .undecided: return nil
      }
      return HookAnswer(output: output)
    },
  ]
}

/// The answer to a coding agent.
struct HookAnswer: Encodable {
  struct Decision: Encodable {
    var behavior: String
    var message: String?
  }

  /// The part of an answer that depends on the event.
  struct Output: Encodable {
    var event: String
    var permissionDecision: String?
    var permissionDecisionReason: String?
    var decision: Decision?

    enum CodingKeys: String, CodingKey {
      case event = "hookEventName"
      case permissionDecision, permissionDecisionReason, decision
    }
  }

  var output: Output

  enum CodingKeys: String, CodingKey { case output = "hookSpecificOutput" }
}
