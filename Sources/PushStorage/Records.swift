package import PushCore
package import PushPolicy

/// An app that may be pushed to. Immutable and shared, since every push asks for it.
package final class App: Sendable, Codable {
  package let id: AppID
  /// The bundle id, which providers name as the topic.
  package let topic: String
  /// What a person sees.
  package let name: String
  /// One emoji, or two letters.
  package let icon: String
  /// Whether a breach of a rule at the door refuses the push or is only logged.
  package let policyMode: PolicyMode
  /// Whether a payload whose `aps` breaks the schema is refused, instead of being reported.
  package let isStrict: Bool
  /// The treatment of its advertising alerts.
  package let ads: AdMode
  /// The team whose keys may push to it; nil: those of every team.
  package let team: String?
  /// How lines to devices name the app, `"topic":…,"app":{…}`: made once, and written with each push.
  package let lineMembers: [UInt8]

  package enum CodingKeys: String, CodingKey {
    case topic, name, icon, ads
    case policyMode = "policy_mode"
    case isStrict = "strict"
    case team = "team_id"
  }

  package init(
    id: AppID, topic: String, name: String, icon: String, policyMode: PolicyMode, isStrict: Bool = false,
    ads: AdMode = .standard, team: String? = nil
  ) {
    self.id = id
    self.topic = topic
    self.name = name
    self.icon = icon
    self.policyMode = policyMode
    self.isStrict = isStrict
    self.ads = ads
    self.team = team
    var members = Array(#""topic":"#.utf8)
    appendJSONString(topic, to: &members)
    append(#","app":{"name":"#, to: &members)
    appendJSONString(name, to: &members)
    append(#","icon":"#, to: &members)
    appendJSONString(icon, to: &members)
    append("}", to: &members)
    lineMembers = members
  }

  /// From JSON, where the row is not known.
  package convenience init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      id: AppID(row: 0), topic: try values.decode(String.self, forKey: .topic),
      name: try values.decode(String.self, forKey: .name), icon: try values.decode(String.self, forKey: .icon),
      policyMode: try values.decode(PolicyMode.self, forKey: .policyMode),
      isStrict: try values.decodeIfPresent(Bool.self, forKey: .isStrict) ?? false,
      ads: try values.decodeIfPresent(AdMode.self, forKey: .ads) ?? .standard,
      team: try values.decodeIfPresent(String.self, forKey: .team))
  }
}

extension App {
  /// What digests come from: no app of a sender's, and none that is stored.
  package static let summary = App(id: AppID(row: 0), topic: "summary", name: "Summary", icon: "📥", policyMode: .report)
}

/// What a breach of a rule at the door leads to, per app (design §3).
package enum PolicyMode: String, Sendable, Codable, CaseIterable {
  /// The push is refused.
  case enforce
  /// The push is accepted and the breach logged, so that the gateway can stand in for the real service exactly.
  case report
}

/// The treatment of an app's advertising alerts (A9), for people who have not allowed it advertising.
package enum AdMode: String, Sendable, Codable, CaseIterable {
  /// Nobody looks.
  case off
  /// Only the log tells.
  case report
  /// They are accepted, and delivered without alert and sound.
  case hold
  /// Plain ones are refused, others held.
  case refuse

  /// A new app's: advertising is refused until the person allows it (N8).
  package static let standard = refuse
}

/// A team's signing key, its public half.
package struct ProviderKey: Sendable {
  /// 10 characters, the `kid` of its tokens.
  package var id: String
  /// 10 characters, the `iss` of its tokens.
  package var team: String
  package var publicKey: ES256Key
  /// Where it may be used; nil: everywhere.
  package var environment: Environment?
  /// What it may push to; nil: every topic.
  package var topics: Set<String>?
  /// The key it is rotated with, whose tokens may follow its own on a connection.
  package var related: String?

  package init(
    id: String, team: String, publicKey: ES256Key, environment: Environment? = nil, topics: Set<String>? = nil,
    related: String? = nil
  ) {
    self.id = id
    self.team = team
    self.publicKey = publicKey
    self.environment = environment
    self.topics = topics
    self.related = related
  }
}

/// A provider's certificate that the gateway issued, or that somebody revoked.
package struct ProviderCertificate: Sendable {
  /// SHA-256 of the certificate.
  package var fingerprint: [UInt8]
  /// The subject's UID.
  package var topic: String?
  /// All it may push to.
  package var topics: Set<String>
  package var environments: Set<Environment>
  /// The end of its validity, in seconds since 1970; nil: not known.
  package var expires: Int64?
  /// When it was revoked, in milliseconds since 1970; nil while it is good.
  package var revoked: Int64?

  package init(
    fingerprint: [UInt8], topic: String? = nil, topics: Set<String>, environments: Set<Environment>,
    expires: Int64? = nil, revoked: Int64? = nil
  ) {
    self.fingerprint = fingerprint
    self.topic = topic
    self.topics = topics
    self.environments = environments
    self.expires = expires
    self.revoked = revoked
  }

  /// How people name it: the first 16 hex digits of its fingerprint.
  package var id: String {
    String(decoding: fingerprint.prefix(8).flatMap { [hexDigit($0 >> 4), hexDigit($0 & 15)] }, as: UTF8.self)
  }
}

/// An installed client of a person.
package struct Device: Sendable {
  package var id: DeviceID
  /// The public identifier.
  package var uuid: String
  package var name: String
  package var person: PersonID
  package var role: Role
  /// When it was last connected, in seconds since 1970; nil: never.
  package var lastSeen: Int64?

  package init(
    id: DeviceID, uuid: String, name: String, person: PersonID, role: Role = .device, lastSeen: Int64? = nil
  ) {
    self.lastSeen = lastSeen
    self.id = id
    self.uuid = uuid
    self.name = name
    self.person = person
    self.role = role
  }
}

/// A device as lists show it.
package struct ListedDevice: Sendable {
  package var device: Device
  /// The name of its person.
  package var person: String
  /// Its registrations that were not ended, with their apps.
  package var registrations: [(Registration, App)]

  package init(device: Device, person: String, registrations: [(Registration, App)]) {
    self.device = device
    self.person = person
    self.registrations = registrations
  }
}

/// What lets a device enroll.
package enum EnrollmentAuthorization: Sendable, Equatable {
  /// The administrator's word: for any person, who is made where there is none.
  case anyPerson
  /// For a person who is not known yet, and nobody else.
  case newPerson
  /// A secret (``InvitationCode/secret``), which is used up: for the person that its invitation names, else for a new one.
  /// `now` is in seconds since 1970.
  case invitation(String, now: Int64)
}

/// What an invitation is for.
package struct InvitationTerms: Sendable, Equatable {
  /// Whose devices it lets enroll; nil: a new person's.
  package var person: String?
  package var role: Role
  /// Seconds since 1970.
  package var expires: Int64
  /// How many devices may still enroll by it.
  package var uses: Int
  /// The broadcast channel that whoever uses it subscribes to; nil: none.
  package var channel: ChannelID?

  package init(
    person: String? = nil, role: Role = .device, expires: Int64, uses: Int = 1, channel: ChannelID? = nil
  ) {
    self.person = person
    self.role = role
    self.expires = expires
    self.uses = uses
    self.channel = channel
  }

  /// What its code is like: a link's of a channel, and one that is good more than once, can't be guessed.
  package var kind: InvitationCode.Kind { channel != nil || uses > 1 ? .shared : .once }

  /// Whether it gives what an invitation of its kind may give: a link of a channel gives nobody's device, and no role.
  package var isGrantable: Bool { channel == nil || (role == .device && person == nil) }
}

/// An invitation that may still be used.
package struct Invitation: Sendable, Equatable {
  /// How people name it: 16 hex digits.
  package var id: String
  package var terms: InvitationTerms

  package init(id: String, _ terms: InvitationTerms) { (self.id, self.terms) = (id, terms) }
}

/// A device token and what it leads to.
package struct Registration: Sendable {
  package var token: DeviceToken
  package var device: DeviceID
  package var app: AppID
  package var environment: Environment
  /// When the token stopped being valid, in milliseconds since 1970; nil while it is.
  package var unregistered: Int64?
  /// When the token stops being valid by itself, in milliseconds since 1970; nil: never.
  package var expires: Int64?

  package init(
    token: DeviceToken, device: DeviceID, app: AppID, environment: Environment, unregistered: Int64? = nil,
    expires: Int64? = nil
  ) {
    self.token = token
    self.device = device
    self.app = app
    self.environment = environment
    self.unregistered = unregistered
    self.expires = expires
  }

  /// Whether its time is over at `now`, in milliseconds since 1970.
  package func isExpired(at now: Int64) -> Bool { expires.map { $0 <= now } ?? false }
}

/// A person: the owner of devices and of choices.
package struct Person: Sendable {
  package var id: PersonID
  package var name: String
  package var preferences: Preferences

  package init(id: PersonID, name: String, preferences: Preferences) {
    self.id = id
    self.name = name
    self.preferences = preferences
  }
}

/// A person's word that a push advertised.
package struct AdReport: Sendable {
  /// Its place among all of them; 0 until it has one.
  package var number: Int64 = 0
  /// Milliseconds since 1970.
  package var at: Int64
  package var device: DeviceID
  package var app: AppID
  package var id: APNSID
  /// What the device showed; empty when it did not say.
  package var text: String

  package init(number: Int64 = 0, at: Int64, device: DeviceID, app: AppID, id: APNSID, text: String) {
    self.number = number
    self.at = at
    self.device = device
    self.app = app
    self.id = id
    self.text = text
  }
}

/// A device of a batch that was just enrolled. Its secret is told this once and kept only as a hash.
package struct EnrolledDevice: Sendable {
  package var secret: String
  package var token: DeviceToken

  package init(secret: String, token: DeviceToken) {
    self.secret = secret
    self.token = token
  }
}
