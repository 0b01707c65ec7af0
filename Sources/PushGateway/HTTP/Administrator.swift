import PushCore

/// Who asks for what a gateway's administrators do, as far as the gateway knows.
struct Administrator: Sendable, Equatable {
  /// By what it knows.
  enum Credential: Sendable, Equatable {
    /// A process that has the admin socket open, and the number of its user; nil: the system did not say.
    case socket(user: UInt32?)
    /// A token, by its name.
    case token(String)
    /// A device's secret, by the device's name.
    case device(String)
  }

  var role: Role
  var credential: Credential

  /// Who it is, for the audit trail: the user of the admin socket, or a name with the kind of credential and the role, which
  /// no name of a user has.
  var shown: String {
    switch credential {
    case .socket(let user): user.map(ServiceUser.name) ?? "admin socket"
    case .token(let name): "\(name) (token, \(role.rawValue))"
    case .device(let name): "\(name) (device, \(role.rawValue))"
    }
  }
}
