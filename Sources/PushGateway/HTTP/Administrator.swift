import PushCore

/// The sender of an administrative request, as far as the gateway can identify it.
struct Administrator: Sendable, Equatable {
  /// The credential that identifies the sender.
  enum Credential: Sendable, Equatable {
    /// A process with access to the admin socket, and the ID of its user; nil if the system did not provide it.
    case socket(user: UInt32?)
    /// A token, by its name.
    case token(String)
    /// A device's secret, by the device's name.
    case device(String)
    /// The page of a test gateway, which needs no credential on this machine.
    case testPage
  }

  var role: Role
  var credential: Credential

  /// The sender for the audit trail: the user of the admin socket, or a name with the kind of credential and the
  /// role, a form that no user name has.
  var shown: String {
    switch credential {
    case .socket(let user): user.map(ServiceUser.name) ?? "admin socket"
    case .token(let name): "\(name) (token, \(role.rawValue))"
    case .device(let name): "\(name) (device, \(role.rawValue))"
    case .testPage: "test page"
    }
  }
}
