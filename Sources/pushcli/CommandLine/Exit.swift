import GatewayClient

/// The exit codes that scripts rely on (design §7).
enum Exit: Int32 {
  case done = 0
  case failed = 1
  case usage = 2
  case suppressed = 3
  case notAuthorized = 4
  case refused = 5
  case unreachable = 6
  case timedOut = 7
  case interrupted = 130
}

/// The end of a command that did not succeed: one line for people, a code for scripts.
struct CommandFailure: Error, CustomStringConvertible {
  var exit: Exit
  /// Empty when everything has been said.
  var message: String
  /// What the gateway answered, when it is the gateway that refused.
  var status: Int?

  var description: String { message }

  init(_ exit: Exit, _ message: String = "", status: Int? = nil) {
    self.exit = exit
    self.message = message
    self.status = status
  }

  /// What a client's failure means for a command.
  init(_ error: ClientError) {
    switch error.kind {
    case .unreachable: self.init(.unreachable, error.description)
    case .refused(let status): self.init(status == 401 || status == 403 ? .notAuthorized : .failed, error.description)
    }
  }

  /// What a device's failure means for a command.
  init(_ error: DeviceError) {
    switch error.kind {
    case .unreachable: self.init(.unreachable, error.description)
    case .refused, .storage: self.init(.failed, error.description)
    }
  }
}
