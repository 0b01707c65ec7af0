package import PushCore
package import PushPolicy

/// An app that may receive pushes. Immutable and shared, because every push looks it up.
package final class App: Sendable, Encodable {
  package let id: AppID
  /// The bundle id, which providers name as the topic.
  package let topic: String
  /// The name that a user sees.
  package let name: String
  /// One emoji, or two letters.
  package let icon: String
  /// The handling of a policy violation in a provider's request: the push is refused, or the violation is only logged.
  package let policyMode: PolicyMode
  /// True if a payload whose `aps` violates the schema is refused, instead of being reported.
  package let isStrict: Bool
  /// The treatment of the app's advertising alerts.
  package let ads: AdMode
  /// True if a sender has declared a push of the app as marketing: its alerts offer to unsubscribe.
  package let sendsMarketing: Bool
  /// The categories that do not start quiet, sorted; nil: no category does (N10).
  package let knownCategories: [String]?
  private let known: Set<String>
  /// The last period in which the app's alerts go to the summary, or its exemption from that (N11); nil: there was none.
  package let measure: SummaryMeasure?
  /// The team whose keys may push to the app; nil: the keys of every team.
  package let team: String?
  /// The JSON members that name the app in lines to devices, `"topic":…,"app":{…}`: made once, and written
  /// with each push.
  package let lineMembers: [UInt8]

  package enum CodingKeys: String, CodingKey {
    case topic, name, icon, ads, measure
    case sendsMarketing = "marketing"
    case knownCategories = "known_categories"
    case policyMode = "policy_mode"
    case isStrict = "strict"
    case team = "team_id"
  }

  package init(
    id: AppID, topic: String, name: String, icon: String, policyMode: PolicyMode, isStrict: Bool = false,
    ads: AdMode = .standard, team: String? = nil, sendsMarketing: Bool = false,
    knownCategories: Set<String>? = nil, measure: SummaryMeasure? = nil
  ) {
    (self.id, self.topic, self.name, self.icon) = (id, topic, name, icon)
    (self.policyMode, self.isStrict, self.ads, self.team) = (policyMode, isStrict, ads, team)
    self.sendsMarketing = sendsMarketing
    self.measure = measure == SummaryMeasure.never ? nil : measure
    self.knownCategories = knownCategories?.sorted()
    known = knownCategories ?? []
    var members = Array(#""topic":"#.utf8)
    appendJSONString(topic, to: &members)
    append(#","app":{"name":"#, to: &members)
    appendJSONString(name, to: &members)
    append(#","icon":"#, to: &members)
    appendJSONString(icon, to: &members)
    append(sendsMarketing ? #","marketing":true}"# : "}", to: &members)
    lineMembers = members
  }

  /// Returns true if new categories of the app start quiet, and this one is new.
  package func isNew(_ category: String) -> Bool { knownCategories != nil && !known.contains(category) }

  /// Returns the same app with the mark that it sends marketing.
  package var withMarketing: App {
    App(
      id: id, topic: topic, name: name, icon: icon, policyMode: policyMode, isStrict: isStrict, ads: ads, team: team,
      sendsMarketing: true, knownCategories: knownCategories.map { Set($0) }, measure: measure)
  }

  /// Returns the same app with other categories that do not start quiet; nil: no category does.
  package func with(knownCategories: Set<String>?) -> App {
    App(
      id: id, topic: topic, name: name, icon: icon, policyMode: policyMode, isStrict: isStrict, ads: ads, team: team,
      sendsMarketing: sendsMarketing, knownCategories: knownCategories, measure: measure)
  }

  /// Returns the same app with another measure or exemption.
  package func with(measure: SummaryMeasure) -> App {
    App(
      id: id, topic: topic, name: name, icon: icon, policyMode: policyMode, isStrict: isStrict, ads: ads, team: team,
      sendsMarketing: sendsMarketing, knownCategories: knownCategories.map { Set($0) }, measure: measure)
  }
}

extension App {
  /// The app of summaries: no sender's app, and never stored.
  package static let summary = App(id: AppID(row: 0), topic: "summary", name: "Summary", icon: "📥", policyMode: .report)
}

/// The handling of a policy violation in a provider's request, per app (design §3).
package enum PolicyMode: String, Sendable, Codable, CaseIterable {
  /// The push is refused.
  case enforce
  /// The push is accepted and the violation logged, so that the gateway behaves exactly like the real service.
  case report
}

/// The treatment of an app's advertising alerts (A9), for users who have not allowed advertising for it.
package enum AdMode: String, Sendable, Codable, CaseIterable {
  /// Alerts are not checked for advertising.
  case off
  /// Advertising is only logged.
  case report
  /// Advertising alerts are accepted, and delivered without alert and sound.
  case hold
  /// Plain advertising is refused; other advertising alerts are treated as in ``hold``.
  case refuse

  /// The mode of a new app: advertising is refused until the user allows it (N8).
  package static let standard = refuse
}

/// The public half of a team's signing key.
package struct ProviderKey: Sendable {
  /// The key id: 10 characters, the `kid` of its tokens.
  package var id: String
  /// The team id: 10 characters, the `iss` of its tokens.
  package var team: String
  package var publicKey: ES256Key
  /// The environment in which the key may be used; nil: both.
  package var environment: Environment?
  /// The topics to which the key may push; nil: every topic.
  package var topics: Set<String>?
  /// The id of the key with which it is rotated; that key's tokens may follow its own on a connection.
  package var related: String?

  package init(
    id: String, team: String, publicKey: ES256Key, environment: Environment? = nil, topics: Set<String>? = nil,
    related: String? = nil
  ) {
    (self.id, self.team, self.publicKey) = (id, team, publicKey)
    (self.environment, self.topics, self.related) = (environment, topics, related)
  }
}

/// A provider's certificate that the gateway issued, or that an administrator revoked.
package struct ProviderCertificate: Sendable {
  /// The SHA-256 of the certificate.
  package var fingerprint: [UInt8]
  /// The UID of the subject.
  package var topic: String?
  /// All topics to which the certificate may push.
  package var topics: Set<String>
  package var environments: Set<Environment>
  /// The end of its validity, in seconds since 1970; nil: not known.
  package var expires: Int64?
  /// The time at which it was revoked, in milliseconds since 1970; nil if it is not revoked.
  package var revoked: Int64?

  package init(
    fingerprint: [UInt8], topic: String? = nil, topics: Set<String>, environments: Set<Environment>,
    expires: Int64? = nil, revoked: Int64? = nil
  ) {
    (self.fingerprint, self.topic, self.topics) = (fingerprint, topic, topics)
    (self.environments, self.expires, self.revoked) = (environments, expires, revoked)
  }

  /// The identifier that users see: the first 16 hex digits of the fingerprint.
  package var id: String { Digest.hex(Array(fingerprint.prefix(8))) }
}

/// An installed client of a user.
package struct Device: Sendable {
  package var id: DeviceID
  /// The public identifier.
  package var uuid: String
  package var name: String
  package var person: PersonID
  package var role: Role
  /// The time of the last connection, in seconds since 1970; nil: never.
  package var lastSeen: Int64?

  package init(
    id: DeviceID, uuid: String, name: String, person: PersonID, role: Role = .device, lastSeen: Int64? = nil
  ) {
    (self.lastSeen, self.id, self.uuid) = (lastSeen, id, uuid)
    (self.name, self.person, self.role) = (name, person, role)
  }
}

package struct ListedDevice: Sendable {
  package var device: Device
  /// The name of its user.
  package var person: String
  /// The registrations that were not ended, with their apps.
  package var registrations: [(Registration, App)]

  package init(device: Device, person: String, registrations: [(Registration, App)]) {
    (self.device, self.person, self.registrations) = (device, person, registrations)
  }
}

package enum EnrollmentAuthorization: Sendable, Equatable {
  /// The administrator's authorization: for any user, who is created if there is none of this name.
  case anyPerson
  /// An authorization for a new user only; an existing name is refused.
  case newPerson
  /// A secret (``InvitationCode/secret``), which counts as used afterwards: for the user that its invitation names,
  /// else for a new one. `now` is in seconds since 1970.
  case invitation(String, now: Int64)
}

/// The terms of an invitation: its user, role, expiration, uses and channel.
package struct InvitationTerms: Sendable, Equatable {
  /// The user whose devices may enroll; nil: a new user.
  package var person: String?
  package var role: Role
  /// The time at which the invitation expires, in seconds since 1970.
  package var expires: Int64
  /// The number of devices that may still enroll by it.
  package var uses: Int
  /// The broadcast channel to which each enrolled device subscribes; nil: none.
  package var channel: ChannelID?

  package init(
    person: String? = nil, role: Role = .device, expires: Int64, uses: Int = 1, channel: ChannelID? = nil
  ) {
    (self.person, self.role, self.expires, self.uses, self.channel) = (person, role, expires, uses, channel)
  }

  /// The kind of its code. A channel's link, and an invitation with several uses, have a code that can't be guessed.
  package var kind: InvitationCode.Kind { channel != nil || uses > 1 ? .shared : .once }

  /// True if the terms are allowed: a channel's link names no user, and its role is ``Role/device``.
  package var isGrantable: Bool { channel == nil || (role == .device && person == nil) }
}

/// An invitation that may still be used.
package struct Invitation: Sendable, Equatable {
  /// The identifier that users see: 16 hex digits.
  package var id: String
  package var terms: InvitationTerms

  package init(id: String, _ terms: InvitationTerms) { (self.id, self.terms) = (id, terms) }
}

/// A device token with its device, app and environment.
package struct Registration: Sendable {
  package var token: DeviceToken
  package var device: DeviceID
  package var app: AppID
  package var environment: Environment
  /// The time at which the token stopped being valid, in milliseconds since 1970; nil while it is valid.
  package var unregistered: Int64?
  /// The time at which the token expires, in milliseconds since 1970; nil: never.
  package var expires: Int64?

  package init(
    token: DeviceToken, device: DeviceID, app: AppID, environment: Environment, unregistered: Int64? = nil,
    expires: Int64? = nil
  ) {
    (self.token, self.device, self.app) = (token, device, app)
    (self.environment, self.unregistered, self.expires) = (environment, unregistered, expires)
  }

  /// Returns true if the token has expired at `now`, in milliseconds since 1970.
  package func isExpired(at now: Int64) -> Bool { expires.map { $0 <= now } ?? false }
}

/// A user: the owner of devices and of preferences.
package struct Person: Sendable {
  package var id: PersonID
  package var name: String
  package var preferences: Preferences

  package init(id: PersonID, name: String, preferences: Preferences) {
    (self.id, self.name, self.preferences) = (id, name, preferences)
  }
}

/// A user's report that a push was advertising.
package struct AdReport: Sendable {
  /// The report's number in the order of all reports; 0 until it is stored.
  package var number: Int64 = 0
  /// The time of the report, in milliseconds since 1970.
  package var at: Int64
  package var device: DeviceID
  package var app: AppID
  package var id: APNSID
  /// The text that the device showed; empty when the device did not send it.
  package var text: String
  /// The review by an administrator; nil for none.
  package var review: Review?

  /// The opinion of an administrator about a report.
  package enum Review: String, Sendable, CaseIterable {
    /// The push was advertising.
    case right
    /// The push was not advertising.
    case wrong
  }

  package init(
    number: Int64 = 0, at: Int64, device: DeviceID, app: AppID, id: APNSID, text: String, review: Review? = nil
  ) {
    (self.number, self.at, self.device) = (number, at, device)
    (self.app, self.id, self.text, self.review) = (app, id, text, review)
  }
}
