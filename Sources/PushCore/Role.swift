/// The role of a credential, which determines its permissions (docs/reference/access.md): the only list of roles.
package enum Role: String, Sendable, Codable, CaseIterable {
  /// Pushes to the apps of its team and manages their channels: the token of a key, or a certificate.
  case provider
  /// Sends messages to the app and the recipients of its sender: the token of a sender.
  case sender
  /// Receives pushes, reports on them, and changes its user's preferences: the secret of a device.
  case device
  /// A device that may also read the data of the admin API.
  case reader
  /// A reader that may also change all data except credentials.
  case `operator`
  /// All permissions: the admin socket, or an operator that may also create and revoke credentials.
  case admin
  /// A page in a browser, with a cookie: the permissions of the role that opened the session, until it is closed.
  case session

  /// The roles of administrators, in the order of their permissions.
  package static let administrators: [Role] = [.reader, .operator, .admin]

  /// Returns true if this role has all permissions of another administrator's role.
  package func includes(_ other: Role) -> Bool {
    guard let own = Role.administrators.firstIndex(of: self), let least = Role.administrators.firstIndex(of: other)
    else { return false }
    return own >= least
  }

  /// The roles of devices, which an invitation can grant.
  package static let invitable: [Role] = [.device, .reader, .operator, .admin]
}
