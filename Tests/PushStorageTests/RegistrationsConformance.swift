import PushPolicy
import PushTesting
import Synchronization
import Testing

@testable import PushCore
@testable import PushStorage

/// The requirements on every storage backend of the registrations. Each check begins with a new backend.
struct RegistrationsConformance {
  let registrations: any Registrations
  /// Opens the same storage as a later process does.
  let reopened: @Sendable () async throws -> any Registrations

  typealias Check = @Sendable (RegistrationsConformance) async throws -> Void

  /// All checks by name.
  static let checks: [(name: String, run: Check)] = [
    ("what was added is found, and found again later", { try await $0.keeping() }),
    ("a device keeps its token until it unregisters", { try await $0.registering() }),
    ("a token that ended says when, for ever", { try await $0.unregistering() }),
    ("choices change one after another, and are told", { try await $0.choosing() }),
    ("a key that goes changes the generation", { try await $0.keys() }),
    ("a revoked certificate is told, and stays revoked", { try await $0.revoking() }),
    ("an invitation is good once, and in its time", { try await $0.inviting() }),
    ("an invitation ends with the fifth wrong code", { try await $0.guessing() }),
    ("an invitation is good as often as it says", { try await $0.sharing() }),
    ("a device that is there uses a link once", { try await $0.redeeming() }),
    ("the links of a channel go with it", { try await $0.withdrawingLinks() }),
    ("a link of a channel can't be guessed, and gives no role", { try await $0.links() }),
    ("a device joins a person by invitation only", { try await $0.joining() }),
    ("an invitation can be taken back", { try await $0.withdrawing() }),
    ("a device that is removed is gone, and its number with it", { try await $0.removingDevices() }),
    ("a secret that was replaced is good no longer", { try await $0.rotating() }),
    ("when a device was connected is kept", { try await $0.seeing() }),
    ("a person goes with all that is known", { try await $0.removingPersons() }),
    ("a person has another name, and one alone", { try await $0.renaming() }),
    ("what can't be is refused, and changes nothing", { try await $0.refusing() }),
    ("a secret finds its device and no other", { try await $0.secrets() }),
    ("categories belong to their app", { try await $0.categories() }),
    ("the category of a question ends with it", { try await $0.questions() }),
    ("every lookup sees a changed app", { try await $0.changingApps() }),
    ("an app is a team's, where it is said", { try await $0.owningApps() }),
    ("an app that is removed is gone, and its number with it", { try await $0.removingApps() }),
    ("a team goes when it has no keys and no apps", { try await $0.removingTeams() }),
    ("a report of a push is kept once", { try await $0.reporting() }),
    ("a list is read page by page, each row once", { try await $0.listing() }),
    ("each device of a batch has a name, a person, a secret and a token", { try await $0.enrollingBatches() }),
    ("a batch is enrolled whole or not at all", { try await $0.batchesAreWhole() }),
    ("removing a batch leaves every other device", { try await $0.removingBatches() }),
  ]

  /// Runs one check on a storage backend.
  static func run(_ name: String, on home: RegistrationsHome) async throws {
    let check = try #require(checks.first { $0.name == name }, "there is no such check")
    try await check.run(try await home.open())
  }

  private static let topic = "com.example.news"

  @discardableResult
  private func addApp(_ topic: String = topic) async throws -> App {
    try await registrations.putApp(topic: topic, name: "News", icon: "N", policyMode: .enforce)
  }

  private func addKey() async throws -> ProviderKey {
    try await registrations.addTeam("TEAM000001")
    let key = ProviderKey(
      id: "KEY0000001", team: "TEAM000001", publicKey: try ES256Key.generate(), environment: .development,
      topics: [Self.topic], related: nil)
    try await registrations.addKey(key)
    return key
  }

  private func keeping() async throws {
    let app = try await addApp()
    let key = try await addKey()
    let (device, _) = try await registrations.enroll(name: "phone", person: "ann")
    let token = try await registrations.register(device.id, topic: Self.topic, environment: .production).token
    for home in [registrations, try await reopened()] {
      #expect(home.teams == ["TEAM000001"])
      #expect(home.key(key.id)?.topics == [Self.topic])
      #expect(home.app(app.id)?.name == "News")
      #expect(try home.app(topic: Self.topic).id == app.id)
      #expect(try home.device(named: "phone").id == device.id)
      #expect(home.person(device.person)?.name == "ann")
      #expect(home.devices(of: device.person) == [device.id])
      #expect(home.registration(token)?.0.environment == .production)
      #expect(home.registration(token)?.1.topic == Self.topic)
    }
  }

  private func registering() async throws {
    try await addApp()
    try await addApp("com.example.mail")
    let (device, _) = try await registrations.enroll(name: "phone", person: nil)
    let first = try await registrations.register(device.id, topic: Self.topic, environment: .development)
    #expect(
      try await registrations.register(device.id, topic: Self.topic, environment: .development).token == first.token)
    let other = try await registrations.register(device.id, topic: "com.example.mail", environment: .development)
    let production = try await registrations.register(device.id, topic: Self.topic, environment: .production)
    #expect(Set([first.token, other.token, production.token]).count == 3)
    #expect(registrations.registrations(of: device.id).count == 3)
    // An expired token is not returned again.
    let short = try await registrations.register(
      device.id, topic: "com.example.mail", environment: .production, expires: 10, now: 5)
    let next = try await registrations.register(
      device.id, topic: "com.example.mail", environment: .production, expires: nil, now: 20)
    #expect(short.token != next.token)
  }

  private func unregistering() async throws {
    try await addApp()
    let (device, _) = try await registrations.enroll(name: "phone", person: nil)
    let first = try await registrations.register(device.id, topic: Self.topic, environment: .development)
    try await registrations.unregister(device.id, topic: Self.topic, now: 1234)
    let second = try await registrations.register(device.id, topic: Self.topic, environment: .development)
    #expect(first.token != second.token)
    for home in [registrations, try await reopened()] {
      #expect(home.registration(first.token)?.0.unregistered == 1234)
      #expect(home.registration(second.token)?.0.unregistered == nil)
      #expect(home.registrations(of: device.id).map(\.0.token) == [second.token])
    }
  }

  private func choosing() async throws {
    let (device, _) = try await registrations.enroll(name: "phone", person: "ann")
    let told = Mutex<[Bool]>([])
    registrations.onChange { change in
      if case .preferences(device.person, let preferences) = change {
        told.withLock { $0.append(preferences.notifications) }
      }
    }
    // Each call adds one app, and no call overwrites another.
    let home = registrations
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<20 {
        group.addTask {
          _ = try await home.changePreferences(of: device.person) { $0.apps["app.\(number)"] = AppPreferences() }
        }
      }
      try await group.waitForAll()
    }
    _ = try await registrations.changePreferences(of: device.person) { $0.notifications = false }
    for home in [registrations, try await reopened()] {
      #expect(home.preferences(of: device.id).apps.count == 20)
      #expect(!home.preferences(of: device.id).notifications)
    }
    #expect(told.withLock { $0 } == [Bool](repeating: true, count: 20) + [false])
  }

  private func keys() async throws {
    let before = registrations.keyGeneration
    let key = try await addKey()
    let between = registrations.keyGeneration
    #expect(between != before)
    try await registrations.removeKey(key.id)
    #expect(registrations.keyGeneration != between)
    #expect(registrations.key(key.id) == nil)
    #expect(try await reopened().keys.isEmpty)
  }

  private func revoking() async throws {
    let told = Mutex<[[UInt8]]>([])
    registrations.onChange { if case .revokedCertificate(let print) = $0 { told.withLock { $0.append(print) } } }
    var certificate = ProviderCertificate(
      fingerprint: [1, 2, 3], topic: Self.topic, topics: [Self.topic], environments: [.production], expires: 99,
      revoked: nil)
    try await registrations.putCertificate(certificate)
    #expect(!registrations.isRevoked(certificate: [1, 2, 3]))
    certificate.revoked = 7
    try await registrations.putCertificate(certificate)
    for home in [registrations, try await reopened()] {
      #expect(home.isRevoked(certificate: [1, 2, 3]))
      #expect(!home.isRevoked(certificate: [1, 2]))
      #expect(home.certificates.map(\.revoked) == [7])
    }
    #expect(told.withLock { $0 } == [[1, 2, 3]])
  }

  /// Enrolls a device with an invitation code.
  private func enroll(
    _ name: String, _ person: String? = nil, with code: String, now: Int64, at home: (any Registrations)? = nil
  ) async throws -> Device {
    try await (home ?? registrations).enroll(name: name, person: person, by: .invitation(code, now: now)).device
  }

  private func refused(
    _ kind: RegistrationRefusal.Kind, _ body: () async throws -> Void, sourceLocation: SourceLocation = #_sourceLocation
  ) async {
    let refusal = await #expect(throws: RegistrationRefusal.self, sourceLocation: sourceLocation) { try await body() }
    #expect(refusal?.kind == kind, sourceLocation: sourceLocation)
  }

  private func inviting() async throws {
    func invite() async throws -> String {
      try await registrations.invite(InvitationTerms(expires: 100)).secret
    }
    let (code, other, late) = (try await invite(), try await invite(), try await invite())
    await refused(.wrongCode) { _ = try await enroll("a", with: "another", now: 50) }
    // An enrollment that is refused for another reason does not change the invitation.
    _ = try await registrations.enroll(name: "taken", person: nil)
    await refused(.forbidden) { _ = try await enroll("taken", with: code, now: 99) }
    await refused(.conflict) { _ = try await enroll("taken", "somebody", with: code, now: 99) }
    _ = try await enroll("a", with: code, now: 99)
    await refused(.wrongCode) { _ = try await enroll("b", with: code, now: 99) }
    let home = try await reopened()
    await refused(.wrongCode) { _ = try await enroll("c", with: code, now: 99, at: home) }
    _ = try await enroll("d", with: other, now: 99, at: home)
    await refused(.wrongCode) { _ = try await enroll("e", with: late, now: 100) }
  }

  /// Returns another secret that differs in the last character only.
  private func misread(_ secret: String, _ number: Int) -> String {
    let last = secret.hasSuffix("\(number)") ? "Z" : "\(number)"
    return secret.dropLast() + last
  }

  private func guessing() async throws {
    let terms = InvitationTerms(expires: 100)
    let (secret, other) = (try await registrations.invite(terms).secret, try await registrations.invite(terms).secret)
    for number in 1..<Limits.invitationTries {
      await refused(.wrongCode) { _ = try await enroll("a", with: misread(secret, number), now: 50) }
    }
    #expect(try await registrations.invitations(now: 50).count == 2)
    let home = try await reopened()
    await refused(.wrongCode) { _ = try await enroll("a", with: misread(secret, 0), now: 50, at: home) }
    await refused(.wrongCode) { _ = try await enroll("a", with: secret, now: 50, at: home) }
    _ = try await enroll("b", with: other, now: 50, at: home)
  }

  private func sharing() async throws {
    let channel = ChannelID.random()
    let terms = InvitationTerms(expires: 100, uses: 3, channel: channel)
    let (secret, invitation) = try await registrations.invite(terms)
    #expect(secret.utf8.count > 20 && invitation.terms == terms)
    for name in ["a", "b"] { _ = try await enroll(name, with: secret, now: 50) }
    #expect(try await reopened().invitations(now: 50).map(\.terms) == [InvitationTerms(expires: 100, channel: channel)])
    _ = try await enroll("c", with: secret, now: 50)
    await refused(.wrongCode) { _ = try await enroll("d", with: secret, now: 50) }
    #expect(try await registrations.invitations(now: 50).isEmpty)
  }

  private func redeeming() async throws {
    let terms = InvitationTerms(expires: 100, uses: 3, channel: .random())
    let (secret, invitation) = try await registrations.invite(terms)
    #expect(try await registrations.invitation(sharedSecret: secret, now: 50) == invitation)
    #expect(try await registrations.invitation(sharedSecret: secret, now: 100) == nil)
    await refused(.wrongCode) { try await registrations.redeem(secret, now: 100) }
    try await registrations.redeem(secret, now: 50)
    #expect(try await reopened().invitation(sharedSecret: secret, now: 50)?.terms.uses == 2)
    #expect(registrations.devices.isEmpty)
    // Devices often have the same names: the refusal reports that, and does not use up the link.
    _ = try await enroll("a", with: secret, now: 50)
    await refused(.conflict) { _ = try await enroll("a", with: secret, now: 50) }
    try await registrations.redeem(secret, now: 50)
    #expect(try await registrations.invitation(sharedSecret: secret, now: 50) == nil)
    await refused(.wrongCode) { try await registrations.redeem(secret, now: 50) }
  }

  private func withdrawingLinks() async throws {
    let (gone, stays) = (ChannelID.random(), ChannelID.random())
    for channel in [gone, gone, stays] {
      _ = try await registrations.invite(InvitationTerms(expires: 100, uses: 2, channel: channel))
    }
    let (code, _) = try await registrations.invite(InvitationTerms(expires: 100))
    try await registrations.withdrawInvitations(to: [gone, .random()])
    for home in [registrations, try await reopened()] {
      #expect(Set(try await home.invitations(now: 50).map(\.terms.channel)) == [nil, stays])
    }
    _ = try await enroll("a", with: code, now: 50)
  }

  private func links() async throws {
    let channel = ChannelID.random()
    let (secret, _) = try await registrations.invite(InvitationTerms(expires: 100, uses: 1, channel: channel))
    #expect(InvitationCode.selector(of: secret) == nil && secret.utf8.count > 20)
    for terms in [
      InvitationTerms(person: "ada", expires: 100, uses: 2, channel: channel),
      InvitationTerms(role: .admin, expires: 100, uses: 2, channel: channel),
    ] { await refused(.invalid) { _ = try await registrations.invite(terms) } }
    let (short, _) = try await registrations.invite(InvitationTerms(expires: 100))
    #expect(try await registrations.invitation(sharedSecret: short, now: 50) == nil)
  }

  private func joining() async throws {
    let (ada, _) = try await registrations.enroll(name: "phone", person: "ada")
    for (name, person) in [("evil", "ada"), ("ada", nil)] as [(String, String?)] {
      await refused(.forbidden) { _ = try await registrations.enroll(name: name, person: person, by: .newPerson) }
      let (code, _) = try await registrations.invite(InvitationTerms(expires: 100))
      await refused(.forbidden) { _ = try await enroll(name, person, with: code, now: 50) }
    }
    let (bob, _) = try await registrations.enroll(name: "evil", person: "bob", by: .newPerson)
    #expect(bob.person != ada.person && bob.role == .device)
    let (code, invitation) = try await registrations.invite(InvitationTerms(person: "ada", role: .reader, expires: 100))
    #expect(invitation.terms.person == "ada" && invitation.terms.role == .reader)
    await refused(.forbidden) { _ = try await enroll("laptop", "bob", with: code, now: 50) }
    let laptop = try await enroll("laptop", with: code, now: 50)
    #expect(laptop.person == ada.person && laptop.role == .reader)
    for home in [registrations, try await reopened()] {
      #expect(Set(home.devices(of: ada.person)) == [ada.id, laptop.id])
      #expect(home.device(laptop.id)?.role == .reader)
      #expect(home.device(ada.id)?.role == .device)
    }
    let (new, _) = try await registrations.invite(InvitationTerms(person: "eve", expires: 100))
    let tablet = try await enroll("tablet", with: new, now: 50)
    #expect(registrations.person(tablet.person)?.name == "eve")
  }

  private func withdrawing() async throws {
    let (code, first) = try await registrations.invite(InvitationTerms(person: "ada", role: .admin, expires: 200))
    let (_, second) = try await registrations.invite(InvitationTerms(expires: 100))
    #expect(first.id != second.id)
    for home in [registrations, try await reopened()] {
      #expect(try await home.invitations(now: 50) == [second, first])
      #expect(try await home.invitations(now: 100) == [first])
    }
    try await registrations.withdraw(invitation: first.id)
    await refused(.wrongCode) { _ = try await enroll("a", with: code, now: 50) }
    await refused(.unknown) { try await registrations.withdraw(invitation: first.id) }
    #expect(try await reopened().invitations(now: 50) == [second])
  }

  /// Returns a function that returns the reported devices with revoked secrets.
  private func revoked() -> @Sendable () -> [[DeviceID]] {
    let told = Told()
    registrations.onChange { if case .revokedDevices(let devices) = $0 { told.add(devices) } }
    return { told.devices }
  }

  private final class Told: Sendable {
    private let list = Mutex<[[DeviceID]]>([])
    func add(_ devices: [DeviceID]) { list.withLock { $0.append(devices) } }
    var devices: [[DeviceID]] { list.withLock { $0 } }
  }

  private func removingDevices() async throws {
    let app = try await addApp()
    let told = revoked()
    let (other, _) = try await registrations.enroll(name: "other", person: "ann")
    let (device, secret) = try await registrations.enroll(name: "phone", person: "ann")
    let old = try await registrations.register(device.id, topic: Self.topic, environment: .production)
    try await registrations.unregister(device.id, topic: Self.topic, now: 5)
    let token = try await registrations.register(device.id, topic: Self.topic, environment: .development).token
    #expect(try await registrations.remove(device.id, now: 1234) == [app.id])
    #expect(told() == [[device.id]])
    await refused(.unknown) { _ = try await registrations.remove(device.id, now: 1) }
    for home in [registrations, try await reopened()] {
      #expect(home.devices.map(\.name) == ["other"])
      #expect(home.device(secret: secret) == nil)
      #expect(home.device(device.id) == nil)
      #expect(home.registrations(of: device.id).isEmpty)
      #expect(home.registration(token)?.0.unregistered == 1234)
      #expect(home.registration(token)?.1.topic == Self.topic)
      #expect(home.registration(old.token)?.0.unregistered == 5)
      #expect(home.person(device.person)?.name == "ann")
      #expect(try await home.allDevices(of: device.person) == [device.id, other.id])
    }
    // The name is free again, but the number is not.
    let home = try await reopened()
    let (next, _) = try await home.enroll(name: "phone", person: nil)
    #expect(next.id != device.id)
    let batch = try await home.enroll(batch: "load", numbers: 0..<2, topic: Self.topic, environment: .development)
    let ids = Set(batch.compactMap { home.device(secret: $0.secret)?.id })
    _ = try await home.remove(batch: "load")
    let (after, _) = try await home.enroll(name: "after", person: nil)
    #expect(!ids.contains(after.id))
  }

  private func rotating() async throws {
    let told = revoked()
    let (device, first) = try await registrations.enroll(name: "phone", person: nil)
    let second = try await registrations.rotateSecret(of: device.id)
    #expect(first != second)
    #expect(told() == [[device.id]])
    for home in [registrations, try await reopened()] {
      #expect(home.device(secret: first) == nil)
      #expect(home.device(secret: second)?.id == device.id)
    }
    _ = try await registrations.remove(device.id, now: 1)
    await refused(.unknown) { _ = try await registrations.rotateSecret(of: device.id) }
  }

  private func seeing() async throws {
    let (device, _) = try await registrations.enroll(name: "phone", person: nil)
    let (other, _) = try await registrations.enroll(name: "laptop", person: nil)
    #expect(registrations.device(device.id)?.lastSeen == nil)
    try await registrations.note(seen: [device.id: 77, DeviceID(row: 999): 5])
    for home in [registrations, try await reopened()] {
      #expect(home.device(device.id)?.lastSeen == 77)
      #expect(home.device(other.id)?.lastSeen == nil)
    }
  }

  private func removingPersons() async throws {
    let app = try await addApp()
    let (phone, _) = try await registrations.enroll(name: "phone", person: "ann")
    let (laptop, _) = try await registrations.enroll(name: "laptop", person: "ann")
    let (other, _) = try await registrations.enroll(name: "other", person: "bob")
    for (number, device) in [phone, laptop, other].enumerated() {
      try await registrations.add(
        AdReport(at: 1, device: device.id, app: app.id, id: .number(number), text: device.name))
    }
    _ = try await registrations.invite(InvitationTerms(person: "ann", expires: 100))
    _ = try await registrations.invite(InvitationTerms(person: "bob", expires: 100))
    let token = try await registrations.register(phone.id, topic: Self.topic, environment: .development).token
    _ = try await registrations.remove(phone.id, now: 9)
    await refused(.conflict) { try await registrations.remove(phone.person) }
    _ = try await registrations.remove(laptop.id, now: 9)
    try await registrations.remove(phone.person)
    for home in [registrations, try await reopened()] {
      #expect(home.persons.map(\.name) == ["bob"])
      #expect(home.person(phone.person) == nil)
      #expect(try await home.adReports(of: nil, limit: 10, before: nil).map(\.text) == ["other"])
      #expect(try await home.invitations(now: 0).map(\.terms.person) == ["bob"])
      #expect(try await home.allDevices(of: phone.person).isEmpty)
      #expect(home.registration(token)?.0.unregistered == 9)
    }
    let (next, _) = try await reopened().enroll(name: "phone", person: "ann")
    #expect(![phone.id, laptop.id, other.id].contains(next.id))
  }

  private func renaming() async throws {
    let (device, _) = try await registrations.enroll(name: "phone", person: "ann")
    _ = try await registrations.enroll(name: "other", person: "bob")
    let (code, _) = try await registrations.invite(InvitationTerms(person: "ann", expires: 100))
    await refused(.conflict) { try await registrations.rename(device.person, to: "bob") }
    await refused(.invalid) { try await registrations.rename(device.person, to: "") }
    try await registrations.rename(device.person, to: "Ann Lee")
    for home in [registrations, try await reopened()] {
      #expect(try home.person(named: "Ann Lee").id == device.person)
      #expect(throws: RegistrationRefusal.self) { try home.person(named: "ann") }
    }
    // An invitation is removed with its user.
    #expect(try await enroll("laptop", with: code, now: 1).person == device.person)
  }

  private func refusing() async throws {
    let (device, _) = try await registrations.enroll(name: "phone", person: nil)
    func refused(_ change: (any Registrations) async throws -> Void) async {
      await #expect(throws: RegistrationRefusal.self) { try await change(registrations) }
    }
    await refused { try await $0.addTeam("short") }
    await refused { try await $0.removeKey("KEY0000009") }
    await refused { _ = try await $0.putApp(topic: "no topic", name: "x", icon: "x", policyMode: .enforce) }
    // Each of these icons but the first two is one character: a letter with 100 accents.
    for icon in ["", "abc", "a" + String(repeating: "\u{301}", count: 100)] {
      await refused { _ = try await $0.putApp(topic: Self.topic, name: "x", icon: icon, policyMode: .enforce) }
    }
    await refused { _ = try await $0.enroll(name: "phone", person: nil) }
    await refused { _ = try await $0.register(device.id, topic: "no.app", environment: .development) }
    await refused { try await $0.unregister(device.id, topic: "no.app", now: 0) }
    #expect(registrations.teams.isEmpty && registrations.apps.isEmpty)
    #expect(registrations.devices.map(\.name) == ["phone"])
  }

  private func secrets() async throws {
    let (one, first) = try await registrations.enroll(name: "one", person: nil)
    let (two, second) = try await registrations.enroll(name: "two", person: "one")
    #expect(one.person == two.person)
    for home in [registrations, try await reopened()] {
      #expect(home.device(secret: first)?.id == one.id)
      #expect(home.device(secret: second)?.id == two.id)
      #expect(home.device(secret: first + "0") == nil)
    }
  }

  private func categories() async throws {
    let (app, other) = (try await addApp(), try await addApp("com.example.mail"))
    let actions = [AlertAction(id: "approve", title: "Approve")]
    try await registrations.putCategory(app.id, "DEPLOY", actions)
    for home in [registrations, try await reopened()] {
      #expect(home.actions(of: app.id, "DEPLOY") == actions)
      #expect(home.actions(of: other.id, "DEPLOY").isEmpty)
      #expect(Array(home.categories(of: app.id).keys) == ["DEPLOY"])
    }
  }

  private func questions() async throws {
    let app = try await addApp()
    let actions = [AlertAction(id: "approve", title: "Approve")]
    try await registrations.putCategory(app.id, "DEPLOY", actions)
    for (name, end) in [("ASK-1", Int64(100)), ("ASK-2", 200), ("ASK-3", 300)] {
      try await registrations.putCategory(app.id, name, actions, expires: end)
    }
    for home in [registrations, try await reopened()] {
      #expect(home.isQuestion(app.id, "ASK-1") && !home.isQuestion(app.id, "DEPLOY"))
      #expect(!home.isQuestion(app.id, "ASK-4"))
      #expect(home.actions(of: app.id, "ASK-1") == actions)
    }
    try await registrations.expireCategories(now: 200)
    try await registrations.removeCategory(app.id, "ASK-3")
    try await registrations.removeCategory(app.id, "ASK-3")
    for home in [registrations, try await reopened()] {
      #expect(Array(home.categories(of: app.id).keys) == ["DEPLOY"])
      #expect(!home.isQuestion(app.id, "ASK-1"))
    }
  }

  private func changingApps() async throws {
    let app = try await addApp()
    let other = try await addApp("com.example.mail")
    let (device, _) = try await registrations.enroll(name: "phone", person: nil)
    let token = try await registrations.register(device.id, topic: Self.topic, environment: .development).token
    try await registrations.noteMarketing(of: app.id)
    try await registrations.setKnownCategories(["B", "A"], of: app.id)
    let measure = SummaryMeasure(summaryFrom: 100, countedFrom: 200)
    let exemption = SummaryMeasure(summaryFrom: nil, countedFrom: 300)
    let isSet = try await registrations.setMeasure(measure, of: app.id, replacing: .never)
    let isSetAgain = try await registrations.setMeasure(exemption, of: app.id, replacing: .never)
    #expect(isSet && !isSetAgain, "a value is replaced only if it is the known one")
    let changed = try await registrations.putApp(
      topic: Self.topic, name: "Newer", icon: "M", policyMode: .report, isStrict: true, ads: .off)
    #expect(changed.id == app.id)
    for home in [registrations, try await reopened()] {
      let found = [
        home.app(app.id), try home.app(topic: Self.topic), home.registration(token)?.1,
        home.registrations(of: device.id).first?.1, home.apps.last,
      ]
      for app in found {
        #expect(app?.name == "Newer" && app?.icon == "M" && app?.policyMode == .report)
        #expect(app?.isStrict == true && app?.ads == .off)
        #expect(app?.sendsMarketing == true && app?.knownCategories == ["A", "B"])
        #expect(app?.measure == measure)
      }
      #expect(home.app(other.id)?.name == "News")
      #expect(home.app(other.id)?.sendsMarketing == false)
      #expect(home.apps.count == 2)
    }
    try await registrations.setKnownCategories(nil, of: app.id)
    let isExempt = try await registrations.setMeasure(exemption, of: app.id, replacing: measure)
    let present = try await reopened().app(app.id)
    #expect(present?.knownCategories == nil && isExempt && present?.measure == exemption)
  }

  private func owningApps() async throws {
    func put(_ topic: String, _ team: String?) async throws -> App {
      try await registrations.putApp(
        topic: topic, name: "News", icon: "N", policyMode: .enforce, isStrict: false, ads: .standard, team: team)
    }
    await #expect(throws: RegistrationRefusal.self) { try await put(Self.topic, "TEAM000001") }
    for team in ["TEAM000001", "TEAM000002"] { try await registrations.addTeam(team) }
    let before = registrations.keyGeneration
    let app = try await put(Self.topic, "TEAM000001")
    #expect(registrations.keyGeneration != before)
    let between = registrations.keyGeneration
    let open = try await put("com.example.mail", nil)
    let changed = try await put(Self.topic, "TEAM000002")
    #expect(registrations.keyGeneration != between)
    #expect(app.team == "TEAM000001" && changed.id == app.id)
    for home in [registrations, try await reopened()] {
      #expect(home.app(app.id)?.team == "TEAM000002")
      #expect(home.app(open.id) != nil && home.app(open.id)?.team == nil)
    }
  }

  private func removingApps() async throws {
    let (app, kept) = (try await addApp(), try await addApp("com.example.mail"))
    let (device, _) = try await registrations.enroll(name: "phone", person: nil)
    let (gone, _) = try await registrations.enroll(name: "tablet", person: nil)
    let (other, _) = try await registrations.enroll(name: "laptop", person: nil)
    var tokens: [DeviceToken] = []
    for device in [device, gone] {
      tokens.append(
        try await registrations.register(device.id, topic: Self.topic, environment: .development).token)
    }
    _ = try await registrations.register(device.id, topic: Self.topic, environment: .production, expires: 5, now: 1)
    let mail = try await registrations.register(device.id, topic: kept.topic, environment: .development).token
    _ = try await registrations.register(other.id, topic: kept.topic, environment: .development)
    _ = try await registrations.remove(gone.id, now: 2)
    try await registrations.putCategory(app.id, "ASK", [])
    try await registrations.add(AdReport(at: 1, device: device.id, app: app.id, id: .number(1), text: "gone"))
    try await registrations.add(AdReport(at: 1, device: device.id, app: kept.id, id: .number(2), text: "kept"))
    #expect(try await registrations.registrationCount(of: app.id, now: 9) == 1)
    #expect(try await registrations.registrationCount(of: app.id, now: 4) == 2)
    #expect(try await registrations.endRegistrations(for: app.id, now: 7) == [device.id])
    #expect(registrations.registration(tokens[0])?.0.unregistered == 7)
    #expect(registrations.registrations(of: device.id).map(\.0.token) == [mail])
    // A repetition, as after a crash.
    #expect(try await registrations.endRegistrations(for: app.id, now: 8) == [device.id])
    #expect(try await registrations.registrationCount(of: app.id, now: 4) == 0)
    let generation = registrations.keyGeneration
    try await registrations.remove(app.id)
    #expect(registrations.keyGeneration != generation)
    for home in [registrations, try await reopened()] {
      #expect(home.apps.map(\.topic) == [kept.topic])
      #expect(home.app(app.id) == nil && !home.hasApp(topic: Self.topic))
      for token in tokens { #expect(home.registration(token) == nil) }
      #expect(home.registration(mail)?.1.topic == kept.topic)
      #expect(home.registrations(of: device.id).map(\.0.token) == [mail])
      #expect(home.categories(of: app.id).isEmpty)
      #expect(try await home.adReports(of: nil, limit: 10, before: nil).map(\.text) == ["kept"])
    }
    let next = try await addApp()
    #expect(next.id != app.id && next.id != kept.id)
    try await registrations.remove(next.id)
    let last = try await reopened().putApp(topic: Self.topic, name: "News", icon: "N", policyMode: .enforce)
    #expect(![app.id, kept.id, next.id].contains(last.id))
  }

  private func removingTeams() async throws {
    let key = try await addKey()
    try await registrations.addTeam("TEAM000002")
    let app = try await registrations.putApp(
      topic: Self.topic, name: "News", icon: "N", policyMode: .enforce, isStrict: false, ads: .standard,
      team: "TEAM000002")
    for team in ["TEAM000001", "TEAM000002"] {
      await refused(.conflict) { try await registrations.removeTeam(team) }
    }
    await refused(.unknown) { try await registrations.removeTeam("TEAM000003") }
    try await registrations.removeKey(key.id)
    try await registrations.removeTeam("TEAM000001")
    for home in [registrations, try await reopened()] { #expect(home.teams == ["TEAM000002"]) }
    try await registrations.remove(app.id)
    try await registrations.removeTeam("TEAM000002")
    for home in [registrations, try await reopened()] { #expect(home.teams.isEmpty) }
  }

  private func reporting() async throws {
    let app = try await addApp()
    let (device, _) = try await registrations.enroll(name: "phone", person: nil)
    let (another, _) = try await registrations.enroll(name: "laptop", person: nil)
    func report(_ number: Int, by device: DeviceID, _ text: String) async throws {
      try await registrations.add(
        AdReport(at: Int64(number), device: device, app: app.id, id: .number(number), text: text))
    }
    #expect(try await registrations.adReports(of: nil, limit: 10, before: nil).isEmpty)
    for number in 1...3 { try await report(number, by: device.id, "buy \(number)") }
    try await report(2, by: device.id, "again")
    try await report(2, by: another.id, "I say so, too")
    let numbers = try await registrations.adReports(of: nil, limit: 10, before: nil).map(\.number)
    try await registrations.review(adReport: numbers[0], as: .right)
    try await registrations.review(adReport: numbers[1], as: .right)
    try await registrations.review(adReport: numbers[1], as: .wrong)
    try await registrations.review(adReport: numbers[2], as: .right)
    try await registrations.review(adReport: numbers[2], as: nil)
    await refused(.unknown) { try await registrations.review(adReport: numbers[3] + 1, as: .right) }
    for home in [registrations, try await reopened()] {
      let reports = try await home.adReports(of: nil, limit: 10, before: nil)
      #expect(reports.map(\.text) == ["buy 1", "buy 2", "buy 3", "I say so, too"])
      #expect(reports.map(\.id) == [1, 2, 3, 2].map(APNSID.number))
      #expect(reports.map(\.at) == [1, 2, 3, 2])
      #expect(reports.map(\.review) == [.right, .wrong, nil, nil])
      #expect(reports.map(\.device) == [device.id, device.id, device.id, another.id])
      #expect(reports.allSatisfy { $0.app == app.id })
      let newest = try await home.adReports(of: nil, limit: 2, before: nil)
      #expect(newest.map(\.text) == ["buy 3", "I say so, too"])
      #expect(try await home.adReports(of: nil, limit: 2, before: newest[0].number).map(\.text) == ["buy 1", "buy 2"])
      #expect(try await home.adReports(of: nil, limit: 2, before: reports[0].number).isEmpty)
      for device in Set(reports.map(\.device)) {
        let own = reports.filter { $0.device == device }.map(\.text)
        #expect(try await home.adReports(of: device, limit: 10, before: nil).map(\.text) == own)
        #expect(try await home.adReports(of: device, limit: 1, before: nil).map(\.text) == own.suffix(1))
      }
    }
  }

  private func listing() async throws {
    let names = ["Zoë", "a", "a-b", "a.b", "ab", "axb", "b_c", "laptop-1", "laptop-10", "laptop-2", "ö"]
    for name in names.reversed() { _ = try await registrations.enroll(name: name, person: name + "'s") }
    for home in [registrations, try await reopened()] {
      func devices(_ page: ListPage) async throws -> [String] {
        try await home.listDevices(page).compactMap { home.device($0)?.name }
      }
      for size in [1, 2, 3, 100] {
        var (all, after) = ([String](), String?.none)
        for _ in names {
          let page = try await devices(ListPage(after: after, limit: size))
          all += page
          after = page.last ?? after
        }
        #expect(all == names)
      }
      #expect(try await devices(ListPage(filter: "laptop", limit: 10)) == ["laptop-1", "laptop-10", "laptop-2"])
      #expect(try await devices(ListPage(after: "laptop-1", filter: "laptop", limit: 1)) == ["laptop-10"])
      #expect(try await devices(ListPage(filter: "_", limit: 10)) == ["b_c"])
      #expect(try await devices(ListPage(after: "ö", limit: 10)).isEmpty)
      let persons = try await home.listPersons(ListPage(after: "a's", filter: "b", limit: 2))
      #expect(persons.compactMap { home.person($0)?.name } == ["a-b's", "a.b's"])
    }
  }

  private func enrollBatch(_ name: String, _ numbers: Range<Int>) async throws -> [(secret: String, token: DeviceToken)]
  {
    try await registrations.enroll(batch: name, numbers: numbers, topic: Self.topic, environment: .development)
  }

  private func enrollingBatches() async throws {
    try await addApp()
    let devices = try await enrollBatch("load", 3..<6)
    for home in [registrations, try await reopened()] {
      #expect(home.devices.map(\.name) == ["load-3", "load-4", "load-5"])
      #expect(Set(home.devices.map(\.person)).count == 3)
      for (place, device) in devices.enumerated() {
        let known = try #require(home.device(secret: device.secret))
        #expect(known.name == "load-\(place + 3)")
        #expect(home.registration(device.token)?.0.device == known.id)
        #expect(home.registrations(of: known.id).map(\.1.topic) == [Self.topic])
      }
    }
    for name in ["", "with space", "star*", "a[b", String(repeating: "x", count: 33)] {
      await #expect(throws: RegistrationRefusal.self) { try await enrollBatch(name, 0..<1) }
      await #expect(throws: RegistrationRefusal.self) { try await registrations.remove(batch: name) }
    }
  }

  private func batchesAreWhole() async throws {
    try await addApp()
    _ = try await registrations.enroll(name: "load-1", person: nil)
    await #expect(throws: RegistrationRefusal.self) { try await enrollBatch("load", 0..<3) }
    for home in [registrations, try await reopened()] { #expect(home.devices.map(\.name) == ["load-1"]) }
  }

  private func removingBatches() async throws {
    let app = try await addApp()
    let gone = try await enrollBatch("load", 0..<2)
    let other = try await enrollBatch("load-2", 0..<1)
    let (named, _) = try await registrations.enroll(name: "load-x", person: nil)
    let (phone, _) = try await registrations.enroll(name: "phone", person: "load-0")
    let ids = Set(gone.compactMap { registrations.device(secret: $0.secret)?.id })
    let removed = try await registrations.remove(batch: "load")
    #expect(removed.count == 2)
    #expect(Set(removed.map(\.device)) == ids)
    #expect(removed.allSatisfy { $0.app == app.id })
    for home in [registrations, try await reopened()] {
      #expect(home.devices.map(\.name) == ["load-2-0", "load-x", "phone"])
      #expect(home.person(named.person) != nil)
      #expect(home.devices(of: named.person) == [named.id])
      #expect(home.devices(of: phone.person) == [phone.id])
      // This user has the name of a removed device, and stays.
      #expect(home.person(phone.person)?.name == "load-0")
      #expect(home.device(secret: gone[0].secret) == nil)
      #expect(home.registration(gone[0].token) == nil)
      #expect(home.device(secret: other[0].secret) != nil)
    }
    // The names are free again.
    _ = try await enrollBatch("load", 1..<2)
    let (tablet, _) = try await registrations.enroll(name: "tablet", person: "load-0")
    for home in [registrations, try await reopened()] {
      #expect(Set(home.devices(of: phone.person)) == [phone.id, tablet.id])
    }
  }
}

extension Preferences {
  fileprivate func with(_ change: (inout Preferences) -> Void) -> Preferences {
    var copy = self
    change(&copy)
    return copy
  }
}
