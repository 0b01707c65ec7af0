/// A request for a group, or for more members of one.
package struct GroupRequest: Codable, Sendable {
  package var name: String
  /// The names of persons.
  package var members: [String]

  package init(name: String, members: [String]) { (self.name, self.members) = (name, members) }
}

/// A group as it is listed.
package struct GroupSummary: Codable, Sendable {
  package var name: String
  /// How many members it has.
  package var members: Int
  /// The apps that it is registered for.
  package var topics: [String]

  package init(name: String, members: Int, topics: [String]) {
    (self.name, self.members, self.topics) = (name, members, topics)
  }
}

/// A group with all that is known of it.
package struct GroupRecord: Codable, Sendable {
  /// A person of it.
  package struct Member: Codable, Sendable {
    package var person: String
    /// The names of the person's devices; of those that are registered for an app, where that was asked for.
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
