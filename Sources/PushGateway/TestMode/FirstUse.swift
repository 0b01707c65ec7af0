import GatewayProtocol
import HTTP2Transport
import Logging
import PushCore
import PushPolicy
import PushStorage
import Synchronization

/// Registers the apps, keys and devices that a sender names for the first time, so that a test needs no preparation.
///
/// Everything else is the production path: a request is checked against these registrations like any other.
final class FirstUse: Sendable {
  /// The registrations that a request lacks.
  struct Needs: Sendable, Equatable {
    var key: Key?
    /// The bundle id of the app, for a push or for broadcasts.
    var topic: String?
    var device: Device?

    struct Key: Sendable, Equatable {
      var id: String
      var team: String
    }

    struct Device: Sendable, Equatable {
      var token: DeviceToken
      var topic: String
      var environment: Environment
    }

    /// True if all registrations exist.
    var isEmpty: Bool { self == Needs() }
  }

  private let registrations: SQLiteRegistrations
  private let groups: Groups
  private let publicKey: ES256Key
  private let logger: Logger
  /// The number of the last device.
  private let last = Atomic<Int>(0)
  /// The number of apps that were added for broadcasts.
  private let broadcasters = Atomic<Int>(0)

  /// - Parameter publicKey: the key of all teams; their signatures are not checked.
  init(_ registrations: SQLiteRegistrations, groups: Groups, publicKey: ES256Key, logger: Logger) {
    (self.registrations, self.groups) = (registrations, groups)
    (self.publicKey, self.logger) = (publicKey, logger)
  }

  /// Returns the registrations that a request lacks.
  func needs(of exchange: Exchange, _ token: ProviderTokenText?) -> Needs {
    var needs = Needs()
    if let token, let id = token.keyID, let team = token.team, registrations.key(id) == nil {
      needs.key = Needs.Key(id: id, team: team)
    }
    if let topic = FirstUse.broadcaster(in: exchange.request) {
      let isKnown = registrations.hasApp(topic: topic)
      if !isKnown, broadcasters.load(ordering: .relaxed) < Limits.maximumAdoptedDevices { needs.topic = topic }
      return needs
    }
    let bytes = exchange.request.bytes(.apnsTopic)
    let named = bytes.map { String(decoding: $0, as: UTF8.self) } ?? exchange.connection.identity?.topic
    guard let topic = named, Topic.isWellFormed(topic.utf8),
      exchange.request.has(.path, beginningWith: Paths.devicePush)
    else { return needs }
    let bundleID = PushType.split(topic: topic).bundleID
    let isKnown = registrations.hasApp(topic: bundleID)
    guard let token = exchange.deviceToken, registrations.registration(token) == nil,
      groups.registration(token) == nil, last.load(ordering: .relaxed) < Limits.maximumAdoptedDevices
    else { return needs }
    if !isKnown { needs.topic = bundleID }
    needs.device = Needs.Device(token: token, topic: bundleID, environment: exchange.connection.environment)
    return needs
  }

  /// Returns the bundle id in the path of a broadcast, or of a request about channels.
  private static func broadcaster(in request: Message) -> String? {
    let isForChannels = request.has(.path, beginningWith: Paths.channels)
    guard isForChannels || request.has(.path, beginningWith: Paths.broadcast), let path = request.text(.path) else {
      return nil
    }
    let name = path.split(separator: "/").dropFirst(isForChannels ? 2 : 3).first.map { String($0) }
    return name.flatMap { Topic.isWellFormed($0.utf8) && PushType.split(topic: $0).type == nil ? $0 : nil }
  }

  /// Adds the missing registrations of a request.
  ///
  /// - Returns: the new device; nil if there is none.
  func register(_ needs: Needs) async -> DeviceID? {
    do {
      if let key = needs.key {
        try await registrations.addTeam(key.team)
        try await registrations.addKey(ProviderKey(id: key.id, team: key.team, publicKey: publicKey))
      }
    } catch {
      note(error)
    }
    do {
      if let topic = needs.topic {
        if needs.device == nil { broadcasters.add(1, ordering: .relaxed) }
        try await addApp(topic)
      }
      guard let device = needs.device else { return nil }
      return try await addDevice(device.token, topic: device.topic, environment: device.environment).id
    } catch {
      note(error)
      return nil
    }
  }

  /// Adds an app whose pushes are not refused for their content, unless there is one.
  func addApp(_ topic: String) async throws {
    guard !registrations.hasApp(topic: topic) else { return }
    let name = topic.split(separator: ".").last.map { String($0.prefix(ShownName.maximumSize)) } ?? "App"
    _ = try await registrations.putApp(
      topic: topic, name: name, icon: "🧪", policyMode: .report, isStrict: false, ads: .report, team: nil)
  }

  /// Adds a device with a token.
  ///
  /// - Parameters:
  ///   - name: the name of the device and of its user; nil for `test-N`.
  ///   - preferences: the preferences of the user; nil for the defaults without a budget of alerts, so that the last alert of
  ///     a test is presented like the first.
  func addDevice(
    _ token: DeviceToken, name: String? = nil, topic: String, environment: Environment, preferences: Preferences? = nil
  ) async throws -> Device {
    let number = last.add(1, ordering: .relaxed).newValue
    var standard = Preferences()
    standard.apps[topic, default: AppPreferences()].alertBudget = .unlimited
    return try await registrations.adopt(
      token, name: name ?? "test-\(number)", topic: topic, environment: environment,
      preferences: preferences ?? standard)
  }

  private func note(_ error: any Error) {
    logger.log(.requestFailed, "a test gateway could not register the app, key or device of a request: \(error)")
  }
}
