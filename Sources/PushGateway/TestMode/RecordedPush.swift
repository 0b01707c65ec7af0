import PushCore
import PushPolicy
import PushStorage

/// One request of a sender, with its answer and the events of the push.
struct RecordedPush: Sendable {
  /// The sender of a request, as far as the request names it.
  struct Sender: Sendable {
    /// The number of the connection, from 1 for the process.
    var connection: Int
    var address: String?
    var keyID: String?
    var team: String?
    /// The age of the provider token in seconds, at the arrival of the request.
    var tokenAge: Int?
    /// A hash of the provider token, by which equal ones are found.
    var tokenHash: Int?
    /// The default topic of the client certificate.
    var certificate: String?
  }

  /// A violation of a rule for senders.
  struct Finding: Sendable {
    var rule: String
    var pointer: String
    var message: String
    var isRefused: Bool
  }

  /// A row of the delivery log.
  struct Event: Sendable {
    var at: Int64
    var event: DeliveryEvent
    var detail: String
  }

  /// The number in the order of arrival, from 1.
  var number = 0
  /// The arrival of the complete request, in milliseconds since 1970, by the clock of the gateway.
  var received: Int64
  /// The arrival by the monotonic clock.
  var arrived = ContinuousClock.now
  /// The time of the answer, in milliseconds since 1970.
  var answered: Int64?
  /// The end of the request by the monotonic clock.
  var ended: ContinuousClock.Instant?
  var id: APNSID
  var method: String
  var path: String
  /// The token in the path: lower-case if it has the form of a device token, else as sent. The token of the subscriber if
  /// ``isDelivery``; nil for the request of a broadcast.
  var token: String?
  /// True for a broadcast as a push to a subscriber, which follows the request itself.
  var isDelivery = false
  /// The device of the token; nil if there is none.
  var device: DeviceID?
  /// The `apns-…` fields of the request, by their names.
  var headers: [String: String]
  var sender: Sender
  /// The size of the body in bytes.
  var size: Int
  /// The body; nil if it is not JSON.
  var payload: JSONValue?
  /// The body if it is not JSON, as far as it was stored.
  var payloadText: String?
  var lint: [LintFinding] = []

  var outcome = PushOutcome.open
  var status: Int?
  var reason: String?
  /// The seconds of `retry-after` in the answer; nil without the field.
  var retryAfter: Int?
  var presented: [String] = []
  var suppressed: [Decision.Removal] = []
  var findings: [Finding] = []
  var events: [Event] = []

  /// The bytes that the push takes in the record, roughly.
  var weight: Int { 1024 + 4 * size + path.utf8.count }

  /// Returns the request of a broadcast as an accepted push to a subscriber.
  func delivered(to token: String, of device: DeviceID) -> RecordedPush {
    var push = self
    (push.token, push.device, push.isDelivery, push.arrived) = (token, device, true, .now)
    (push.outcome, push.status, push.events, push.presented, push.suppressed) = (.accepted, 200, [], [], [])
    return push
  }

  /// The maximum number of events and findings of one push.
  private static let maximumEvents = 100

  mutating func add(_ row: DeliveryLog.Row) {
    guard events.count < RecordedPush.maximumEvents else { return }
    events.append(Event(at: row.at, event: row.event, detail: row.detail.words))
    switch row.detail {
    case .presented(let parts): presented += parts.filter { !presented.contains($0) }
    case .removed(let removals): suppressed += removals.filter { !suppressed.contains($0) }
    case .finding(let finding) where row.event == .reported || row.event == .ignored: add(finding)
    default: break
    }
  }

  /// Adds the violation of a rule.
  mutating func add(_ finding: DeliveryDetail.Finding, isRefused: Bool = false) {
    guard findings.count < RecordedPush.maximumEvents else { return }
    findings.append(
      Finding(rule: finding.rule, pointer: finding.pointer, message: finding.message, isRefused: isRefused))
  }

  /// True if the preferences of the user removed the alert.
  private var isWithoutAlert: Bool { suppressed.contains { $0.part == .alert } }

  func isIn(_ state: PushState) -> Bool {
    switch state {
    case .accepted: outcome.isAcceptance
    case .presented: !presented.isEmpty && (presented.contains(Part.alert.rawValue) || !isWithoutAlert)
    case .suppressed: !suppressed.isEmpty
    case .refused: outcome == .refused
    case .any: true
    }
  }

  /// The states that the push is in, but ``PushState/any``.
  var states: [PushState] { PushState.allCases.filter { $0 != .any && isIn($0) } }

  /// The number in a field; nil if it is missing or has another form.
  private func number(in field: String) -> Int? {
    headers[field].flatMap { $0.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int($0) : nil }
  }

  var topic: String? { headers["apns-topic"] }
  /// The push type in the suffix of the topic.
  var suffix: String? { topic.flatMap { PushType.split(topic: $0).type?.rawValue } }
  var pushType: String? { headers["apns-push-type"] }
  var priority: Int? { number(in: "apns-priority") }
  var expiration: Int? { number(in: "apns-expiration") }
  var collapseID: String? { headers["apns-collapse-id"] }
}
