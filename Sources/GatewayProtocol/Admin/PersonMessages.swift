/// A user as lists show it.
package struct PersonRecord: Codable, Sendable {
  package var name: String
  /// The names of the user's devices.
  package var devices: [String]

  package init(name: String, devices: [String]) {
    self.name = name
    self.devices = devices
  }
}

/// A request for another name of a user.
package struct PersonRequest: Codable, Sendable {
  package var name: String

  package init(name: String) { self.name = name }
}

package struct InvitationRequest: Codable, Sendable {
  package var validSeconds: Int
  /// The user whose device may enroll; nil: a new user.
  package var person: String?
  /// The role of the device; nil: `device`.
  package var role: String?

  package init(validSeconds: Int, person: String? = nil, role: String? = nil) {
    self.validSeconds = validSeconds
    self.person = person
    self.role = role
  }

  package enum CodingKeys: String, CodingKey {
    case person, role
    case validSeconds = "valid_seconds"
  }
}

/// An invitation as lists show it.
package struct InvitationRecord: Codable, Sendable {
  /// The id: 16 hex digits.
  package var id: String
  /// The user whose device may enroll; nil: a new user.
  package var person: String?
  package var role: String
  /// The time at which it expires, RFC 3339, UTC.
  package var expires: String
  /// The number of times that it may still be used.
  package var uses: Int
  /// The broadcast channel to which it is a link, in base64; nil: none.
  package var channel: String?
  /// The channel's app; nil if the channel does not exist any longer.
  package var topic: String?

  package init(
    id: String, person: String?, role: String, expires: String, uses: Int, channel: String? = nil, topic: String? = nil
  ) {
    self.id = id
    self.person = person
    self.role = role
    self.expires = expires
    self.uses = uses
    self.channel = channel
    self.topic = topic
  }
}

/// An invitation that was created. The code is sent only here and stored only as a hash.
package struct CreatedInvitation: Codable, Sendable {
  package var code: String
  package var id: String
  package var person: String?
  package var role: String
  package var expires: String
  package var uses: Int
  package var channel: String?
  package var topic: String?

  package init(code: String, _ record: InvitationRecord) {
    self.code = code
    (id, person, role, expires) = (record.id, record.person, record.role, record.expires)
    (uses, channel, topic) = (record.uses, record.channel, record.topic)
  }

  package enum CodingKeys: String, CodingKey {
    case code = "invitation"
    case id, person, role, expires, uses, channel, topic
  }
}
