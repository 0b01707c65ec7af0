import PushPolicy

/// An app that may be pushed to. Immutable and shared, since every push asks for it.
final class App: Sendable, Codable {
  let id: AppID
  /// The bundle id, which providers name as the topic.
  let topic: String
  /// What a person sees.
  let name: String
  /// One emoji, or two letters.
  let icon: String
  /// Whether a breach of a rule at the door refuses the push or is only logged.
  let policyMode: PolicyMode
  /// Whether a payload whose `aps` breaks the schema is refused, instead of being reported.
  let isStrict: Bool
  /// What becomes of its alerts that advertise.
  let ads: AdMode
  /// How lines to devices name the app, `"topic":…,"app":{…}`: made once, and written with each push.
  let lineMembers: [UInt8]

  enum CodingKeys: String, CodingKey {
    case topic, name, icon, ads
    case policyMode = "policy_mode"
    case isStrict = "strict"
  }

  init(
    id: AppID, topic: String, name: String, icon: String, policyMode: PolicyMode, isStrict: Bool = false,
    ads: AdMode = .standard
  ) {
    self.id = id
    self.topic = topic
    self.name = name
    self.icon = icon
    self.policyMode = policyMode
    self.isStrict = isStrict
    self.ads = ads
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
  convenience init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      id: AppID(row: 0), topic: try values.decode(String.self, forKey: .topic),
      name: try values.decode(String.self, forKey: .name), icon: try values.decode(String.self, forKey: .icon),
      policyMode: try values.decode(PolicyMode.self, forKey: .policyMode),
      isStrict: try values.decodeIfPresent(Bool.self, forKey: .isStrict) ?? false,
      ads: try values.decodeIfPresent(AdMode.self, forKey: .ads) ?? .standard)
  }
}

extension App {
  /// What digests come from: no app of a sender's, and none that is stored.
  static let summary = App(id: AppID(row: 0), topic: "summary", name: "Summary", icon: "📥", policyMode: .report)
}

/// What a breach of a rule at the door leads to, per app (design §3).
enum PolicyMode: String, Sendable, Codable, CaseIterable {
  /// The push is refused.
  case enforce
  /// The push is accepted and the breach logged, so that the gateway can stand in for the real service exactly.
  case report
}

/// What becomes of an app's alerts that advertise (A9), for people who have not allowed it advertising.
enum AdMode: String, Sendable, Codable, CaseIterable {
  /// Nobody looks.
  case off
  /// Only the log tells.
  case report
  /// They are accepted, and delivered without alert and sound.
  case hold
  /// Plain ones are refused, others held.
  case refuse

  /// A new app's: advertising is refused until the person allows it (N8).
  static let standard = refuse
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
  /// The key it is rotated with, whose tokens may follow its own on a connection.
  var related: String?
}

/// A provider's certificate that the gateway issued, or that somebody revoked.
struct ProviderCertificate: Sendable {
  /// SHA-256 of the certificate.
  var fingerprint: [UInt8]
  /// The subject's UID.
  var topic: String?
  /// All it may push to.
  var topics: Set<String>
  var environments: Set<Environment>
  /// The end of its validity, in seconds since 1970; nil: not known.
  var expires: Int64?
  /// When it was revoked, in milliseconds since 1970; nil while it is good.
  var revoked: Int64?

  /// How people name it: the first 16 hex digits of its fingerprint.
  var id: String {
    String(decoding: fingerprint.prefix(8).flatMap { [hexDigit($0 >> 4), hexDigit($0 & 15)] }, as: UTF8.self)
  }
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
  /// When the token stops being valid by itself, in milliseconds since 1970; nil: never.
  var expires: Int64?

  /// Whether its time is over at `now`, in milliseconds since 1970.
  func isExpired(at now: Int64) -> Bool { expires.map { $0 <= now } ?? false }
}

/// A person: the owner of devices and of choices.
struct Person: Sendable {
  var id: PersonID
  var name: String
  var preferences: Preferences
}
