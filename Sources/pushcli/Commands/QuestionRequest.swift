import GatewayProtocol
import PushCore
import PushPolicy

/// A question before it is asked, with the values of the options of `pushcli ask`.
struct QuestionRequest: Sendable {
  /// DEVICE/TOPIC, or GROUP/TOPIC.
  var to: String
  var title: String
  var body: String?
  var actions: [AlertAction]
  var sound = "default"
  /// The time for an answer, such as `5m`.
  var timeout = "5m"
  /// True if a closed question is asked again.
  var repeats = false
  /// The device or the user that is asked when there is no answer.
  var escalateTo: String?
  /// The time until the escalation; nil for two minutes, or half of ``timeout``.
  var after: String?
  var signing: SigningOptions
  var gateway: GatewayOptions

  /// The default of ``after`` in seconds, if half of ``timeout`` is not shorter.
  private static let longestGrace = 120.0

  /// Returns true if a text has the form of ``to``.
  static func isTarget(_ text: String) -> Bool { text.split(separator: "/", maxSplits: 1).count == 2 }

  /// Finds the recipients, and connects to the gateway. The question is not asked yet.
  ///
  /// - Throws: ``CommandFailure`` for an invalid time, and if a recipient is unknown or not registered.
  func open() async throws -> Question {
    let wait = try TimeSpan(timeout, option: "--timeout")
    guard wait.seconds > 0 else {
      throw CommandFailure(.usage, "--timeout is \"\(timeout)\": expected a time above 0s")
    }
    let grace =
      try after.map { try TimeSpan($0, option: "--after").seconds }
      ?? min(QuestionRequest.longestGrace, wait.seconds / 2)
    guard escalateTo == nil || grace < wait.seconds else {
      throw CommandFailure(
        .usage, "--after is \"\(after ?? "")\", and --timeout \"\(timeout)\": expected a shorter --after")
    }
    let end = ContinuousClock.now + wait.duration
    let parts = to.split(separator: "/", maxSplits: 1).map(String.init)
    guard parts.count == 2 else { throw CommandFailure(.usage, "--to is DEVICE/TOPIC, not \"\(to)\"") }
    let way = try await Question.Way(gateway.state, device: parts[0], topic: parts[1], signing, gateway)
    let parties = try await parties(parts[0], topic: parts[1], grace: .seconds(grace), until: end, way)
    return Question(self, topic: parts[1], parties: parties, end: end, way)
  }

  /// Finds the recipients.
  private func parties(
    _ first: String, topic: String, grace: Duration, until end: ContinuousClock.Instant, _ way: Question.Way
  ) async throws -> Question.Parties {
    var parties = Question.Parties(first: [first], grace: grace)
    let group = try await way.access.run(until: end) { try await QuestionRequest.group(first, topic, $0.admin) }
    if let group {
      parties.group = group.name
      parties.members = group.members.map(\.devices).filter { !$0.isEmpty }
      guard !parties.members.isEmpty else {
        throw CommandFailure(.suppressed, "no member of \(group.name) has a device that is registered for \(topic)")
      }
    }
    if let escalateTo {
      let found = try await way.access.run(until: end) {
        try await QuestionRequest.devices(of: escalateTo, topic, $0.admin)
      }
      parties.next = found.filter { $0 != first }
      guard !parties.next.isEmpty else {
        throw CommandFailure(
          .usage, "--escalate-to is \"\(escalateTo)\": expected another device or user than \(first)")
      }
    }
    return parties
  }

  /// Returns the group with this name and its devices that are registered for an app; nil if there is none.
  private static func group(_ name: String, _ topic: String, _ admin: Admin) async throws -> GroupRecord? {
    do {
      return try await admin.get(AdminPath.group(name) + "?topic=\(pathPart(topic))")
    } catch let failure as CommandFailure where failure.status == 404 {
      return nil
    }
  }

  /// Returns the device with this name, or the devices of the user with this name, that are registered for the app.
  private static func devices(of name: String, _ topic: String, _ admin: Admin) async throws -> [String] {
    func isRegistered(_ device: String) async throws -> Bool {
      let registrations: [RegistrationRecord] = try await admin.get(
        AdminPath.registrations(device))
      return registrations.contains { topic == $0.topic || topic.hasPrefix($0.topic + ".") }
    }
    var found: [String] = []
    do {
      found = try await isRegistered(name) ? [name] : []
    } catch let failure as CommandFailure where failure.status == 404 {
      let person: PersonRecord
      do {
        person = try await admin.get(AdminPath.person(name))
      } catch let failure as CommandFailure where failure.status == 404 {
        throw CommandFailure(.suppressed, "there is no device and no user named \(name)")
      }
      for device in person.devices where try await isRegistered(device) { found.append(device) }
    }
    guard !found.isEmpty else {
      throw CommandFailure(
        .suppressed, "\(name) is not registered for \(topic): `pushcli devices register \(name) \(topic)`")
    }
    return found
  }
}
