import PushCore

/// The mistakes in requests that the gateway accepts, as APNs may. Each kind is reported once for each token.
struct SenderMistakes {
  private enum Kind: Hashable { case priority, content, silence, topic, identifier, providerTokens }

  private struct Finding {
    var kind: Kind
    var words: String
    var expected: String
  }

  private struct Place: Hashable {
    var token: String?
    var kind: Kind
  }

  /// A provider token at its first use for a device token.
  private struct FirstUse {
    var hash: Int
    var time: Int64
  }

  private struct Device: Hashable {
    var token: String?
    var keyID: String?
  }

  private var reported: Set<Place> = []
  /// The first push with an id that its sender chose.
  private var pushesByID: [APNSID: RecordedPush] = [:]
  private var providerTokens: [Device: [FirstUse]] = [:]

  /// The time in which a sender may have a provider token and its successor, in milliseconds.
  private static let tokenTime: Int64 = 20 * 60_000

  /// Returns the new mistakes of an accepted push. Call it for each push, in the order of arrival.
  mutating func lines(about push: RecordedPush) -> [PushReport.Line] {
    guard push.token != nil else { return [] }
    let findings = [
      SenderMistakes.priority(of: push), SenderMistakes.content(of: push), SenderMistakes.topic(of: push),
      identifier(of: push), providerToken(of: push),
    ]
    return findings.compactMap(\.self).compactMap { finding in
      guard reported.insert(Place(token: push.token, kind: finding.kind)).inserted else { return nil }
      return PushReport.Line(
        push: push, verdict: .mistake, expected: finding.expected, words: "push \(push.number) \(finding.words)")
    }
  }

  /// Returns the push type of the header; nil if it is missing or unknown.
  private static func pushType(of push: RecordedPush) -> PushType? {
    push.pushType.flatMap { PushType(rawValue: $0.lowercased()) }
  }

  private static func priority(of push: RecordedPush) -> Finding? {
    guard pushType(of: push) == .background, push.priority ?? 10 == 10 else { return nil }
    let words = push.priority == nil ? "no apns-priority, which is then 10" : "apns-priority 10"
    return Finding(kind: .priority, words: "is a background push with \(words)", expected: "apns-priority 5")
  }

  private static func content(of push: RecordedPush) -> Finding? {
    guard case .object(let aps)? = push.payload?["aps"] else { return nil }
    let shown = ["alert", "sound", "badge"].filter { aps[$0].map { $0 != .null } ?? false }
    let isSilent = shown.isEmpty && aps["content-available"].map { $0.equals(1) } ?? false
    switch pushType(of: push) {
    case .background:
      if let member = shown.first {
        return Finding(
          kind: .content, words: "is a background push with \(member)",
          expected: "apns-push-type alert, or a payload without alert, sound and badge")
      }
      if isSilent { return nil }
      return Finding(
        kind: .content, words: "is a background push without content-available", expected: "content-available 1")
    case .alert, nil:
      guard isSilent, push.suffix == nil else { return nil }
      let words = push.pushType == nil ? "has no push type, which is then alert" : "has push type alert"
      return Finding(
        kind: .silence, words: "\(words), and its payload is silent",
        expected: "apns-push-type background and apns-priority 5")
    default: return nil
    }
  }

  private static func topic(of push: RecordedPush) -> Finding? {
    guard let topic = push.topic, let type = pushType(of: push) else { return nil }
    let (bundleID, suffixType) = PushType.split(topic: topic)
    guard suffixType != (type.topicSuffix.isEmpty ? nil : type) else { return nil }
    let expected =
      type.topicSuffix.isEmpty
      ? "apns-push-type \(suffixType?.rawValue ?? type.rawValue), or the topic \(bundleID)"
      : "the topic \(bundleID)\(type.topicSuffix)"
    return Finding(
      kind: .topic, words: "has push type \(type.rawValue) and the topic \(topic)", expected: expected)
  }

  /// Finds another push with the same id.
  private mutating func identifier(of push: RecordedPush) -> Finding? {
    guard push.headers["apns-id"] != nil else { return nil }
    guard let first = pushesByID[push.id] else {
      pushesByID[push.id] = push
      return nil
    }
    guard first.token != push.token || first.payload != push.payload || first.topic != push.topic else { return nil }
    let result = push.outcome == .duplicate ? ": it is dropped as a repetition" : ""
    return Finding(
      kind: .identifier, words: "has the apns-id of push \(first.number), which is another push\(result)",
      expected: "a new apns-id for each push, and the same one only for its retries")
  }

  /// Finds the third provider token of a key for one device token within 20 minutes.
  private mutating func providerToken(of push: RecordedPush) -> Finding? {
    guard let hash = push.sender.tokenHash else { return nil }
    let device = Device(token: push.token, keyID: push.sender.keyID)
    var uses = providerTokens[device] ?? []
    guard !uses.contains(where: { $0.hash == hash }) else { return nil }
    uses = uses.suffix(2) + [FirstUse(hash: hash, time: push.received)]
    providerTokens[device] = uses
    let times = uses.map(\.time)
    guard uses.count == 3, let first = times.min(), let last = times.max(), last - first < SenderMistakes.tokenTime
    else { return nil }
    return Finding(
      kind: .providerTokens, words: "has the third provider token within 20 minutes",
      expected: SenderDemand.oneProviderToken)
  }
}
