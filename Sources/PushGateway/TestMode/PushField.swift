import PushCore

/// A field of a push by which expectations and lists select it.
enum PushField: Sendable, Equatable {
  case title, subtitle, body, badge, sound, category
  case threadID, interruptionLevel, contentAvailable, mutableContent, marketing
  case topic, suffix, pushType, priority, expiration, collapseID
  case id, status, reason, outcome, keyID, teamID
  /// A value of the payload, by its JSON pointer.
  case payload(pointer: String)

  /// The names of all fields but ``payload(pointer:)``.
  static let names: [(name: String, field: PushField)] = [
    ("title", .title), ("subtitle", .subtitle), ("body", .body), ("badge", .badge), ("sound", .sound),
    ("category", .category), ("thread-id", .threadID), ("interruption-level", .interruptionLevel),
    ("content-available", .contentAvailable), ("mutable-content", .mutableContent), ("marketing", .marketing),
    ("topic", .topic), ("suffix", .suffix), ("push-type", .pushType), ("priority", .priority),
    ("expiration", .expiration), ("collapse-id", .collapseID), ("id", .id), ("status", .status), ("reason", .reason),
    ("outcome", .outcome), ("key-id", .keyID), ("team-id", .teamID),
  ]

  /// The beginning of the names of values of the payload.
  static let payloadPrefix = "payload."

  /// Reads the name of a field.
  init?(_ name: String) {
    if name.hasPrefix(PushField.payloadPrefix) {
      let pointer = String(name.dropFirst(PushField.payloadPrefix.count))
      guard pointer.isEmpty || pointer.hasPrefix("/") else { return nil }
      self = .payload(pointer: pointer)
    } else if let (_, field) = PushField.names.first(where: { $0.name == name }) {
      self = field
    } else {
      return nil
    }
  }

  /// True if the value is constant after the arrival of a push.
  var isFixed: Bool {
    switch self {
    case .status, .reason, .outcome: false
    default: true
    }
  }

  /// Returns the value of a push; nil if it has none.
  func value(in push: RecordedPush) -> JSONValue? {
    let aps = push.payload?["aps"]
    let alert = aps?["alert"]
    return switch self {
    case .title: alert?["title"]
    case .subtitle: alert?["subtitle"]
    case .body: alert?.text.map(JSONValue.string) ?? alert?["body"]
    case .badge: aps?["badge"]
    case .sound: aps?["sound"]?["name"] ?? aps?["sound"]
    case .category: aps?["category"]
    case .threadID: aps?["thread-id"]
    case .interruptionLevel: aps?["interruption-level"]
    case .contentAvailable: aps?["content-available"]
    case .mutableContent: aps?["mutable-content"]
    case .marketing: push.headers["apns-marketing"] == "true" ? .bool(true) : push.payload?["marketing"]
    case .topic: push.topic.map { .string($0) }
    case .suffix: push.suffix.map { .string($0) }
    case .pushType: push.pushType.map { .string($0) }
    case .priority: push.priority.map { .integer($0) }
    case .expiration: push.expiration.map { .integer($0) }
    case .collapseID: push.collapseID.map { .string($0) }
    case .id: .string(push.id.description)
    case .status: push.status.map { .integer($0) }
    case .reason: push.reason.map { .string($0) }
    case .outcome: .string(push.outcome.rawValue)
    case .keyID: push.sender.keyID.map { .string($0) }
    case .teamID: push.sender.team.map { .string($0) }
    case .payload(let pointer): push.payload?.value(at: pointer)
    }
  }
}
