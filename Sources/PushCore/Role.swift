/// What a credential lets its holder do (docs/access.md): the one table of it.
package enum Role: String, Sendable, Codable, CaseIterable {
  /// Pushes to its team's apps and manages their channels: a key's token, or a certificate.
  case provider
  /// Receives, speaks of what it was sent, and changes its person's choices: a device's secret.
  case device
  /// A device that may also read what the admin API tells.
  case reader
  /// A reader that may also change what is no credential.
  case `operator`
  /// Everything: the admin socket, or an operator that may also make and take away credentials.
  case admin
  /// A browser's page, by a cookie: what the role that opened it may do, until it is closed.
  case session

  /// The roles of those who administer a gateway, from the least to the one that may do everything.
  package static let administrators: [Role] = [.reader, .operator, .admin]

  /// Whether whoever has this role may do what another of those who administer may.
  package func includes(_ other: Role) -> Bool {
    guard let own = Role.administrators.firstIndex(of: self), let least = Role.administrators.firstIndex(of: other)
    else { return false }
    return own >= least
  }

  /// What an invitation may be for: the roles of devices.
  package static let invitable: [Role] = [.device, .reader, .operator, .admin]
}
