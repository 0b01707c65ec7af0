import PushPolicy

/// An app that may be pushed to.
struct App: Sendable, Codable {
  var id: AppID
  /// The bundle id, which providers name as the topic.
  var topic: String
  /// What a person sees.
  var name: String
  /// One emoji, or two letters.
  var icon: String
  /// Whether a breach of a rule at the door refuses the push or is only logged.
  var policyMode: PolicyMode

  enum CodingKeys: String, CodingKey {
    case topic, name, icon
    case policyMode = "policy_mode"
  }

  init(id: AppID, topic: String, name: String, icon: String, policyMode: PolicyMode) {
    self.id = id
    self.topic = topic
    self.name = name
    self.icon = icon
    self.policyMode = policyMode
  }

  /// From JSON, where the row is not known.
  init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    id = AppID(row: 0)
    topic = try values.decode(String.self, forKey: .topic)
    name = try values.decode(String.self, forKey: .name)
    icon = try values.decode(String.self, forKey: .icon)
    policyMode = try values.decode(PolicyMode.self, forKey: .policyMode)
  }
}

/// What a breach of a rule at the door leads to, per app (design §3).
enum PolicyMode: String, Sendable, Codable, CaseIterable {
  /// The push is refused.
  case enforce
  /// The push is accepted and the breach logged, so that the gateway can stand in for the real service exactly.
  case report
}

/// A team's signing key, its public half.
struct ProviderKey: Sendable {
  /// 10 characters, the `kid` of its tokens.
  var id: String
  /// 10 characters, the `iss` of its tokens.
  var team: String
  var publicKey: ES256Key
  /// Where it may be used; nil: everywhere.
  var environment: Environment?
  /// What it may push to; nil: every topic.
  var topics: Set<String>?
}

/// An installed client of a person.
struct Device: Sendable {
  var id: DeviceID
  /// The public identifier.
  var uuid: String
  var name: String
  var person: PersonID
}

/// A device token and what it leads to.
struct Registration: Sendable {
  var token: DeviceToken
  var device: DeviceID
  var app: AppID
  var environment: Environment
  /// When the token stopped being valid, in milliseconds since 1970; nil while it is.
  var unregistered: Int64?
}

/// A person: the owner of devices and of choices.
struct Person: Sendable {
  var id: PersonID
  var name: String
  var preferences: Preferences
}
