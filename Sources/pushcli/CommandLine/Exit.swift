import GatewayClient

/// The exit codes that scripts rely on (design §7). The table of README.md and of `pushcli --help` is made of them.
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

  /// What it says, in a few words.
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

/// The end of a command that did not succeed: one line for people, a code for scripts.
struct CommandFailure: Error, CustomStringConvertible {
  /// The exit code: one of ``Exit``, or that of a command which was run.
  var code: Int32
  /// Empty when everything has been said.
  var message: String
  /// What the gateway answered, when it is the gateway that refused.
  var status: Int?
  /// Whether trying again can't help.
  var isPermanent = false

  var description: String { message }
  var exit: Exit? { Exit(rawValue: code) }

  init(_ exit: Exit, _ message: String = "", status: Int? = nil) {
    self.init(code: exit.rawValue, message, status: status)
  }

  /// - Parameter code: another exit code than ours.
  init(code: Int32, _ message: String, status: Int? = nil) {
    self.code = code
    self.message = message
    self.status = status
  }

  /// What a client's failure means for a command.
  init(_ error: ClientError) {
    switch error.kind {
    case .unreachable, .untrusted: self.init(.unreachable, error.description)
    case .misconfigured, .unidentified: self.init(.usage, error.description)
    case .refused(let status): self.init(CommandFailure.exit(of: status), error.description, status: status)
    }
    isPermanent = error.isPermanent
  }

  /// What it means that a device has given up: one that the gateway does not know is nobody.
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

  /// What a device's failure means for a command.
  init(_ error: DeviceError) {
    switch error.kind {
    case .unreachable: self.init(.unreachable, error.description)
    case .refused, .storage: self.init(.failed, error.description)
    }
  }

  /// What any error means for a command.
  init(any error: any Error) {
    switch error {
    case let failure as CommandFailure: self = failure
    case let error as ClientError: self.init(error)
    case let error as DeviceError: self.init(error)
    default: self.init(.failed, "\(error)")
    }
  }

  /// What a refusal by the control plane means for a script.
  static func exit(of status: Int) -> Exit {
    switch status {
    case 400, 413, 422: .usage
    case 401, 403: .notAuthorized
    case 404: .suppressed
    default: .failed
    }
  }
}
