package import PushCore
package import PushPolicy
package import PushStorage
import Synchronization

/// The registrations of a cluster of two gateways. Changes alternate between the gateways, and lookups use the other
/// one.
package final class TwoReplicas: Registrations {
  private struct Gateway {
    var registrations: SQLiteRegistrations
    var member: MemoryReplicationLog.Member
  }

  private let gateways: [Gateway]
  private let changes = Atomic<Int>(0)

  private init(_ gateways: [Gateway]) { self.gateways = gateways }

  package static func open(_ log: MemoryReplicationLog, _ stores: [SQLiteStore]) async throws -> TwoReplicas {
    var gateways: [Gateway] = []
    for store in stores {
      let member = try await log.join(store)
      gateways.append(Gateway(registrations: try SQLiteRegistrations(store: store), member: member))
    }
    return TwoReplicas(gateways)
  }

  /// The gateway that did not make the last change.
  private var reader: SQLiteRegistrations { gateways[(changes.load(ordering: .relaxed) + 1) % 2].registrations }

  private func change<Value>(_ body: (SQLiteRegistrations) async throws -> Value) async throws -> Value {
    let number = changes.add(1, ordering: .relaxed).newValue
    do {
      let value = try await body(gateways[number % 2].registrations)
      try await gateways[(number + 1) % 2].member.catchUp()
      return value
    } catch {
      // An operation that was refused may have changed something: an attempt is counted.
      try await gateways[(number + 1) % 2].member.catchUp()
      throw error
    }
  }

  package func onChange(_ listener: @escaping @Sendable (RegistrationChange) -> Void) {
    // Each gateway reports every change.
    gateways[0].registrations.onChange(listener)
  }

  package func registration(_ token: DeviceToken) -> (Registration, App)? { reader.registration(token) }
  package var keyGeneration: UInt64 {
    gateways.reduce(0) { $0 &+ $1.registrations.keyGeneration }
  }
  package func key(_ id: String) -> ProviderKey? { reader.key(id) }
  package func app(_ id: AppID) -> App? { reader.app(id) }
  package func preferences(of device: DeviceID) -> Preferences { reader.preferences(of: device) }
  package func device(secret: String) -> Device? { reader.device(secret: secret) }
  package func isRevoked(certificate fingerprint: [UInt8]) -> Bool { reader.isRevoked(certificate: fingerprint) }
  package func actions(of app: AppID, _ category: String) -> [AlertAction] { reader.actions(of: app, category) }
  package func isQuestion(_ app: AppID, _ category: String) -> Bool { reader.isQuestion(app, category) }
  package var teams: [String] { reader.teams }
  package var keys: [ProviderKey] { reader.keys }
  package var apps: [App] { reader.apps }
  package var devices: [Device] { reader.devices }
  package var certificates: [ProviderCertificate] { reader.certificates }
  package func hasApp(topic: String) -> Bool { reader.hasApp(topic: topic) }
  package func app(topic: String) throws(RegistrationRefusal) -> App { try reader.app(topic: topic) }
  package func device(named name: String) throws(RegistrationRefusal) -> Device { try reader.device(named: name) }
  package func device(_ id: DeviceID) -> Device? { reader.device(id) }
  package func person(_ id: PersonID) -> Person? { reader.person(id) }
  package var persons: [Person] { reader.persons }
  package func person(named name: String) throws(RegistrationRefusal) -> Person { try reader.person(named: name) }
  package func devices(of person: PersonID) -> [DeviceID] { reader.devices(of: person) }
  package func registrations(of device: DeviceID) -> [(Registration, App)] { reader.registrations(of: device) }
  package func categories(of app: AppID) -> [String: [AlertAction]] { reader.categories(of: app) }
  package func listed(_ device: DeviceID) -> ListedDevice? { reader.listed(device) }
  package func listDevices(_ page: ListPage) async throws -> [DeviceID] { try await reader.listDevices(page) }
  package func listPersons(_ page: ListPage) async throws -> [PersonID] { try await reader.listPersons(page) }
  package func adReports(of device: DeviceID?, limit: Int, before number: Int64?) async throws -> [AdReport] {
    try await reader.adReports(of: device, limit: limit, before: number)
  }

  package func addTeam(_ id: String) async throws { try await change { try await $0.addTeam(id) } }
  package func removeTeam(_ id: String) async throws { try await change { try await $0.removeTeam(id) } }
  package func addKey(_ key: ProviderKey) async throws { try await change { try await $0.addKey(key) } }
  package func removeKey(_ id: String) async throws { try await change { try await $0.removeKey(id) } }
  package func putApp(
    topic: String, name: String, icon: String, policyMode: PolicyMode, isStrict: Bool, ads: AdMode, team: String?
  ) async throws -> App {
    try await change {
      try await $0.putApp(
        topic: topic, name: name, icon: icon, policyMode: policyMode, isStrict: isStrict, ads: ads, team: team)
    }
  }
  package func noteMarketing(of app: AppID) async throws { try await change { try await $0.noteMarketing(of: app) } }
  package func setKnownCategories(_ known: Set<String>?, of app: AppID) async throws {
    try await change { try await $0.setKnownCategories(known, of: app) }
  }
  package func setMeasure(
    _ measure: SummaryMeasure, of app: AppID, replacing former: SummaryMeasure
  ) async throws -> Bool {
    try await change { try await $0.setMeasure(measure, of: app, replacing: former) }
  }
  package func registrationCount(of app: AppID, now: Int64) async throws -> Int {
    try await reader.registrationCount(of: app, now: now)
  }
  package func endRegistrations(for app: AppID, now: Int64) async throws -> [DeviceID] {
    try await change { try await $0.endRegistrations(for: app, now: now) }
  }
  package func remove(_ app: AppID) async throws { try await change { try await $0.remove(app) } }
  package func putCategory(
    _ app: AppID, _ category: String, _ actions: [AlertAction], expires: Int64?
  ) async throws {
    try await change { try await $0.putCategory(app, category, actions, expires: expires) }
  }
  package func removeCategory(_ app: AppID, _ category: String) async throws {
    try await change { try await $0.removeCategory(app, category) }
  }
  package func expireCategories(now: Int64) async throws {
    try await change { try await $0.expireCategories(now: now) }
  }
  package func enroll(
    name: String, person: String?, by authorization: EnrollmentAuthorization
  ) async throws -> (device: Device, secret: String) {
    try await change { try await $0.enroll(name: name, person: person, by: authorization) }
  }
  package func remove(_ device: DeviceID, now: Int64) async throws -> [AppID] {
    try await change { try await $0.remove(device, now: now) }
  }
  package func rotateSecret(of device: DeviceID) async throws -> String {
    try await change { try await $0.rotateSecret(of: device) }
  }
  package func note(seen: [DeviceID: Int64]) async throws { try await change { try await $0.note(seen: seen) } }
  package func rename(_ person: PersonID, to name: String) async throws {
    try await change { try await $0.rename(person, to: name) }
  }
  package func allDevices(of person: PersonID) async throws -> Set<DeviceID> {
    try await reader.allDevices(of: person)
  }
  package func remove(_ person: PersonID) async throws { try await change { try await $0.remove(person) } }
  package func register(
    _ device: DeviceID, topic: String, environment: Environment, expires: Int64?, now: Int64
  ) async throws -> Registration {
    try await change {
      try await $0.register(device, topic: topic, environment: environment, expires: expires, now: now)
    }
  }
  package func unregister(_ device: DeviceID, topic: String, now: Int64) async throws {
    try await change { try await $0.unregister(device, topic: topic, now: now) }
  }
  package func changePreferences(
    of person: PersonID, _ body: @escaping @Sendable (inout Preferences) throws -> Void
  ) async throws -> Preferences {
    try await change { try await $0.changePreferences(of: person, body) }
  }
  package func putCertificate(_ certificate: ProviderCertificate) async throws {
    try await change { try await $0.putCertificate(certificate) }
  }
  package func add(_ report: AdReport) async throws { try await change { try await $0.add(report) } }
  package func review(adReport number: Int64, as review: AdReport.Review?) async throws {
    try await change { try await $0.review(adReport: number, as: review) }
  }
  package func invite(_ terms: InvitationTerms) async throws -> (secret: String, invitation: Invitation) {
    try await change { try await $0.invite(terms) }
  }
  package func invitations(now: Int64) async throws -> [Invitation] { try await reader.invitations(now: now) }
  package func invitation(sharedSecret: String, now: Int64) async throws -> Invitation? {
    try await reader.invitation(sharedSecret: sharedSecret, now: now)
  }
  package func redeem(_ secret: String, now: Int64) async throws {
    try await change { try await $0.redeem(secret, now: now) }
  }
  package func withdraw(invitation id: String) async throws {
    try await change { try await $0.withdraw(invitation: id) }
  }
  package func withdrawInvitations(to channels: Set<ChannelID>) async throws {
    try await change { try await $0.withdrawInvitations(to: channels) }
  }
  package func enroll(
    batch name: String, numbers: Range<Int>, topic: String, environment: Environment
  ) async throws -> [(secret: String, token: DeviceToken)] {
    try await change {
      try await $0.enroll(batch: name, numbers: numbers, topic: topic, environment: environment)
    }
  }
  package func remove(batch name: String) async throws -> [(device: DeviceID, app: AppID)] {
    try await change { try await $0.remove(batch: name) }
  }
}
