/// A request for a group, or for more members of one.
package struct GroupRequest: Codable, Sendable {
  package var name: String
  /// The names of users.
  package var members: [String]

  package init(name: String, members: [String]) { (self.name, self.members) = (name, members) }
}

/// A group with its members and registrations.
package struct GroupRecord: Codable, Sendable {
  /// A user in the group.
  package struct Member: Codable, Sendable {
    package var person: String
    /// The names of the user's devices; only those registered for an app, if the request names an app.
    package var devices: [String]

    package init(person: String, devices: [String]) { (self.person, self.devices) = (person, devices) }
  }

  package var name: String
  package var members: [Member]
  package var registrations: [RegistrationRecord]

  package init(name: String, members: [Member], registrations: [RegistrationRecord]) {
    (self.name, self.members, self.registrations) = (name, members, registrations)
  }
}
