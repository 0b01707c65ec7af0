import GatewayClient

/// The exit codes that scripts rely on (design §7). The table of docs/reference/exit-codes.md is made from them.
enum Exit: Int32, CaseIterable {
  case done = 0
  case failed = 1
  case usage = 2
  case suppressed = 3
  case notAuthorized = 4
  case refused = 5
  case unreachable = 6
  case timedOut = 7
  case interrupted = 130

  /// The meaning in a few words.
  var meaning: String {
    switch self {
    case .done: "done"
    case .failed: "failed; `lint` and `doctor`: a fault was found"
    case .usage: "wrong usage: an invalid option or value, a file that can't be read, an invalid CA file"
    case .suppressed: "unknown device, app, key or other name; with `--wait`: accepted, then suppressed"
    case .notAuthorized: "not authorized: a missing or rejected key"
    case .refused: "refused permanently: the reason is on standard error, and in JSON"
    case .unreachable: "unreachable after retries; at once when the certificate is not trusted"
    case .timedOut: "timed out: `ask`, `send --wait`"
    case .interrupted: "interrupted"
    }
  }
}

/// The failure of a command: one line for users, an exit code for scripts.
struct CommandFailure: Error, CustomStringConvertible {
  /// The exit code: one of ``Exit``, or that of a command that `run` has run.
  var code: Int32
  /// The message; empty if it was already printed.
  var message: String
  /// The HTTP status of the gateway's answer, if the gateway refused.
  var status: Int?
  /// True if a repetition can't succeed.
  var isPermanent = false
  /// The seconds after which to try again, as the gateway's refusal names them.
  var retryAfter: Int?

  var description: String { message }
  var exit: Exit? { Exit(rawValue: code) }

  init(_ exit: Exit, _ message: String = "", status: Int? = nil) {
    self.init(code: exit.rawValue, message, status: status)
  }

  /// - Parameter code: an exit code that is not one of ``Exit``.
  init(code: Int32, _ message: String, status: Int? = nil) {
    self.code = code
    self.message = message
    self.status = status
  }

  /// Makes the failure for a client's error.
  init(_ error: ClientError) {
    switch error.kind {
    case .unreachable, .untrusted: self.init(.unreachable, error.description)
    case .misconfigured, .unidentified: self.init(.usage, error.description)
    case .refused(let status): self.init(CommandFailure.exit(of: status), error.description, status: status)
    case .storage: self.init(.failed, error.description)
    }
    isPermanent = error.isPermanent
  }

  /// Makes the failure for a refusal by the control plane.
  init(refusal answer: Client.Answer) {
    self.init(answer.refusal)
    retryAfter = answer.retryAfter
  }

  /// Makes the failure for the error after which a device gave up. With 401, the device is unknown to the gateway.
  init(device error: ClientError) {
    guard case .refused(401) = error.kind else {
      self.init(error)
      return
    }
    self.init(
      .suppressed,
      "the gateway does not know this device: it was removed, or has another secret now; "
        + "`pushcli join CODE@HOST` makes it a device again, on the gateway's own machine `pushcli devices enroll NAME`",
      status: 401)
  }

  /// Makes the failure for any error.
  init(any error: any Error) {
    switch error {
    case let failure as CommandFailure: self = failure
    case let error as ClientError: self.init(error)
    default: self.init(.failed, "\(error)")
    }
  }

  /// Returns the exit code for a refusal by the control plane.
  static func exit(of status: Int) -> Exit {
    switch status {
    case 400, 413, 422: .usage
    case 401, 403: .notAuthorized
    case 404: .suppressed
    default: .failed
    }
  }
}
