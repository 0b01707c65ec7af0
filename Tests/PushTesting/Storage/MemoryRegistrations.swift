package import PushCore
package import PushPolicy
package import PushStorage
import Synchronization

/// The contract of the registrations as a simple model in memory. It shares no code with the real ones. An injected
/// fault must be detected by the checks of ``RegistrationsConformance``.
package final class MemoryRegistrations: Registrations {
  package enum Fault: CaseIterable {
    /// All data is lost when the registrations are opened again.
    case forgetsWhenClosed
    /// Every registration gets a new token.
    case givesNewTokens
    /// Invalid values are accepted.
    case acceptsAnything
    /// A category belongs to every app.
    case sharesCategories
    /// The category of a question is not removed.
    case keepsQuestions
    /// The devices of a batch belong to one user.
    case sharesPersons
    /// Ended tokens are unknown.
    case forgetsTokens
    /// A change of preferences may revert the change before.
    case undoesChoices
    /// Verified tokens stay valid after their key has been removed.
    case keepsGeneration
    /// The revocation of a certificate is not reported.
    case revokesSilently
    /// A code never expires.
    case redeemsTwice
    /// The beginning of a secret is accepted.
    case readsHalfSecrets
    /// Tokens refer to the original version of the app.
    case answersOldApps
    /// The devices that were enrolled before a conflict of names stay.
    case enrollsHalfBatches
    /// All devices whose name begins with that of the batch are removed.
    case removesTooMuch
    /// A second report of a push counts.
    case repeatsReports
    /// A device may join any user.
    case joinsAnybody
    /// A refused enrollment uses up its invitation.
    case usesUpInvitations
    /// A link for several uses works once.
    case usesUpLinks
    /// The enrollment of an existing device uses up a link.
    case redeemsForNothing
    /// A link of a channel remains after the channel is deleted.
    case keepsLinks
    /// A link for a single use has a secret that can be guessed.
    case shortensLinks
    /// A link of a channel may have a user and a role.
    case grantsByLink
    /// Failed guesses never invalidate an invitation.
    case letsGuess
    /// A revoked invitation stays valid.
    case keepsInvitations
    /// The time of the last connection of a device is not stored.
    case forgetsSeen
    /// Two users may have the same name.
    case sharesNames
    /// A secret never expires.
    case keepsSecrets
    /// The removal of a device is not reported.
    case removesSilently
    /// The tokens of a removed device are unknown.
    case forgetsRemovedTokens
    /// The reports of a user remain after the user is removed.
    case keepsReports
    /// An app belongs to every team.
    case forgetsTeams
    /// A team with apps or keys can be removed.
    case removesOwners
    /// The number of a removed app is used again.
    case reusesNumbers
    /// A page of a list begins with the last row of the page before.
    case repeatsRows

    /// The name of the check that has to detect the fault. Other checks may detect it too.
    package var finder: String {
      switch self {
      case .forgetsWhenClosed: "what was added is found, and found again later"
      case .givesNewTokens: "a device keeps its token until it unregisters"
      case .acceptsAnything: "what can't be is refused, and changes nothing"
      case .sharesCategories: "categories belong to their app"
      case .keepsQuestions: "the category of a question ends with it"
      case .sharesPersons: "each device of a batch has a name, a person, a secret and a token"
      case .forgetsTokens: "a token that ended says when, for ever"
      case .undoesChoices: "choices change one after another, and are told"
      case .keepsGeneration: "a key that goes changes the generation"
      case .revokesSilently: "a revoked certificate is told, and stays revoked"
      case .redeemsTwice: "an invitation is good once, and in its time"
      case .readsHalfSecrets: "a secret finds its device and no other"
      case .answersOldApps: "every lookup sees a changed app"
      case .enrollsHalfBatches: "a batch is enrolled whole or not at all"
      case .removesTooMuch: "removing a batch leaves every other device"
      case .repeatsReports: "a report of a push is kept once"
      case .joinsAnybody: "a device joins a person by invitation only"
      case .usesUpInvitations: "an invitation is good once, and in its time"
      case .usesUpLinks: "an invitation is good as often as it says"
      case .redeemsForNothing: "a device that is there uses a link once"
      case .keepsLinks: "the links of a channel go with it"
      case .shortensLinks, .grantsByLink: "a link of a channel can't be guessed, and gives no role"
      case .letsGuess: "an invitation ends with the fifth wrong code"
      case .keepsInvitations: "an invitation can be taken back"
      case .forgetsSeen: "when a device was connected is kept"
      case .sharesNames: "a person has another name, and one alone"
      case .keepsSecrets: "a secret that was replaced is good no longer"
      case .removesSilently: "a device that is removed is gone, and its number with it"
      case .forgetsRemovedTokens: "a device that is removed is gone, and its number with it"
      case .keepsReports: "a person goes with all that is known"
      case .forgetsTeams: "an app is a team's, where it is said"
      case .removesOwners: "a team goes when it has no keys and no apps"
      case .reusesNumbers: "an app that is removed is gone, and its number with it"
      case .repeatsRows: "a list is read page by page, each row once"
      }
    }
  }

  private struct State: Sendable {
    var lastRow: Int64 = 0
    var teams: Set<String> = []
    var keys: [String: ProviderKey] = [:]
    var generation: UInt64 = 0
    var apps: [AppID: App] = [:]
    /// The numbers of removed apps.
    var formerApps: [AppID] = []
    /// The original versions of apps, for ``Fault/answersOldApps``.
    var oldApps: [AppID: App] = [:]
    var categories: [AppID: [String: [AlertAction]]] = [:]
    /// The end times of the categories of questions, in seconds since 1970.
    var questions: [AppID: [String: Int64]] = [:]
    var persons: [PersonID: Person] = [:]
    /// The removed devices with their users.
    var former: [DeviceID: PersonID] = [:]
    /// The preferences before the last change, for ``Fault/undoesChoices``.
    var oldChoices: [PersonID: Preferences] = [:]
    var devices: [(device: Device, secret: String)] = []
    var registrations: [Registration] = []
    var certificates: [ProviderCertificate] = []
    var reports: [AdReport] = []
    var invitations: [(secret: String, invitation: Invitation, tries: Int)] = []

    mutating func row() -> Int64 {
      lastRow += 1
      return lastRow
    }
  }

  private let state: Mutex<State>
  private let fault: Fault?
  private let listeners = Mutex<[@Sendable (RegistrationChange) -> Void]>([])

  package convenience init(fault: Fault? = nil) { self.init(State(), fault) }

  private init(_ state: State, _ fault: Fault?) {
    self.state = Mutex(state)
    self.fault = fault
  }

  /// Returns the registrations that a later process would open if the memory were a disk.
  package func reopened() -> MemoryRegistrations {
    MemoryRegistrations(fault == .forgetsWhenClosed ? State() : look { $0 }, fault)
  }

  private func look<Value: Sendable>(_ body: (State) -> Value) -> Value { state.withLock { body($0) } }

  private static func refusal(_ kind: RegistrationRefusal.Kind) -> RegistrationRefusal {
    RegistrationRefusal(kind: kind, description: "refused")
  }

  private static func require(_ holds: Bool, _ kind: RegistrationRefusal.Kind) throws(RegistrationRefusal) {
    if !holds { throw refusal(kind) }
  }

  package func onChange(_ listener: @escaping @Sendable (RegistrationChange) -> Void) {
    listeners.withLock { $0.append(listener) }
  }

  private func notify(_ change: RegistrationChange) {
    for listener in listeners.withLock({ $0 }) { listener(change) }
  }

  package func registration(_ token: DeviceToken) -> (Registration, App)? {
    look { [fault] state in
      guard let found = state.registrations.first(where: { $0.token == token }) else { return nil }
      if fault == .forgetsTokens, found.unregistered != nil { return nil }
      let apps = fault == .answersOldApps ? state.oldApps : state.apps
      return apps[found.app].map { (found, $0) }
    }
  }

  package var keyGeneration: UInt64 { look { $0.generation } }
  package func key(_ id: String) -> ProviderKey? { look { $0.keys[id] } }
  package func app(_ id: AppID) -> App? { look { $0.apps[id] } }
  package func preferences(of device: DeviceID) -> Preferences {
    self.device(device).flatMap { person($0.person) }?.preferences ?? Preferences()
  }
  package func device(secret: String) -> Device? {
    look { [fault] state in
      state.devices.first {
        fault == .readsHalfSecrets ? secret.hasPrefix($0.secret) : $0.secret == secret
      }?.device
    }
  }
  package func isRevoked(certificate fingerprint: [UInt8]) -> Bool {
    look { $0.certificates.contains { $0.fingerprint == fingerprint && $0.revoked != nil } }
  }
  package func actions(of app: AppID, _ category: String) -> [AlertAction] { categories(of: app)[category] ?? [] }
  package func isQuestion(_ app: AppID, _ category: String) -> Bool { look { $0.questions[app]?[category] } != nil }

  package var teams: [String] { look { $0.teams.sorted() } }
  package var keys: [ProviderKey] { look { $0.keys.values.sorted { $0.id < $1.id } } }
  package var apps: [App] { look { $0.apps.values.sorted { $0.topic < $1.topic } } }
  package var devices: [Device] { look { $0.devices.map(\.device).sorted { $0.name < $1.name } } }
  package var certificates: [ProviderCertificate] { look { $0.certificates.sorted { $0.id < $1.id } } }
  package func hasApp(topic: String) -> Bool { apps.contains { $0.topic == topic } }
  package func app(topic: String) throws(RegistrationRefusal) -> App {
    guard let app = apps.first(where: { $0.topic == topic }) else { throw Self.refusal(.unknown) }
    return app
  }
  package func device(named name: String) throws(RegistrationRefusal) -> Device {
    guard let device = devices.first(where: { $0.name == name }) else { throw Self.refusal(.unknown) }
    return device
  }
  package func device(_ id: DeviceID) -> Device? { devices.first { $0.id == id } }
  package func person(_ id: PersonID) -> Person? { look { $0.persons[id] } }
  package func devices(of person: PersonID) -> [DeviceID] { devices.filter { $0.person == person }.map(\.id) }
  package func registrations(of device: DeviceID) -> [(Registration, App)] {
    look { state in
      state.registrations.filter { $0.device == device && $0.unregistered == nil }.compactMap { registration in
        state.apps[registration.app].map { (registration, $0) }
      }
    }
  }
  package var persons: [Person] { look { $0.persons.values.sorted { $0.name < $1.name } } }
  package func person(named name: String) throws(RegistrationRefusal) -> Person {
    guard let person = persons.first(where: { $0.name == name }) else { throw Self.refusal(.unknown) }
    return person
  }

  package func remove(_ device: DeviceID, now: Int64) async throws -> [AppID] {
    let apps = try state.withLock { state in
      guard let place = state.devices.firstIndex(where: { $0.device.id == device }) else {
        throw Self.refusal(.unknown)
      }
      let apps = state.registrations.filter { $0.device == device && $0.unregistered == nil }.map(\.app)
      state.former[device] = state.devices[place].device.person
      if fault != .keepsSecrets { state.devices.remove(at: place) }
      for place in state.registrations.indices where state.registrations[place].device == device {
        if fault == .forgetsRemovedTokens { state.registrations[place].token = .random() }
        state.registrations[place].unregistered = state.registrations[place].unregistered ?? now
      }
      return apps
    }
    if fault != .removesSilently { notify(.revokedDevices([device])) }
    return Set(apps).sorted { $0.row < $1.row }
  }

  package func rotateSecret(of device: DeviceID) async throws -> String {
    let secret = try state.withLock { state in
      guard let place = state.devices.firstIndex(where: { $0.device.id == device }) else {
        throw Self.refusal(.unknown)
      }
      let secret = DeviceToken.random().hex
      if fault == .keepsSecrets { state.devices.append((state.devices[place].device, secret)) }
      if fault != .keepsSecrets { state.devices[place].secret = secret }
      return secret
    }
    notify(.revokedDevices([device]))
    return secret
  }

  package func note(seen: [DeviceID: Int64]) async throws {
    state.withLock { state in
      for place in state.devices.indices {
        guard fault != .forgetsSeen, let time = seen[state.devices[place].device.id] else { continue }
        state.devices[place].device.lastSeen = time
      }
    }
  }

  package func rename(_ person: PersonID, to name: String) async throws {
    try state.withLock { state in
      try Self.require(!name.isEmpty, .invalid)
      let isTaken = state.persons.values.contains { $0.name == name && $0.id != person }
      try Self.require(!isTaken || fault == .sharesNames, .conflict)
      let old = state.persons[person]?.name
      state.persons[person]?.name = name
      for place in state.invitations.indices where state.invitations[place].invitation.terms.person == old {
        state.invitations[place].invitation.terms.person = name
      }
    }
  }

  package func allDevices(of person: PersonID) async throws -> Set<DeviceID> {
    look { state in
      Set(state.devices.map(\.device).filter { $0.person == person }.map(\.id))
        .union(state.former.filter { $0.value == person }.keys)
    }
  }

  package func remove(_ person: PersonID) async throws {
    let devices = try await allDevices(of: person)
    try state.withLock { state in
      try Self.require(!state.devices.contains { $0.device.person == person }, .conflict)
      let name = state.persons.removeValue(forKey: person)?.name
      if fault != .keepsReports { state.reports.removeAll { devices.contains($0.device) } }
      state.invitations.removeAll { $0.invitation.terms.person == name }
      state.former = state.former.filter { $0.value != person }
    }
  }

  package func categories(of app: AppID) -> [String: [AlertAction]] {
    look { [fault] state in
      state.categories[app] ?? (fault == .sharesCategories ? state.categories.values.first : nil) ?? [:]
    }
  }
  package func listDevices(_ page: ListPage) async throws -> [DeviceID] {
    guard fault == .repeatsRows, let after = page.after else { return page.take(of: devices, by: \.name).map(\.id) }
    let whole = ListPage(filter: page.filter, limit: .max).take(of: devices, by: \.name)
    return whole.drop { $0.name != after }.prefix(page.limit).map(\.id)
  }

  package func listPersons(_ page: ListPage) async throws -> [PersonID] {
    page.take(of: persons, by: \.name).map(\.id)
  }

  package func listed(_ id: DeviceID) -> ListedDevice? {
    device(id).map { device in
      ListedDevice(device: device, person: person(device.person)?.name ?? "", registrations: registrations(of: id))
    }
  }

  package func adReports(of device: DeviceID?, limit: Int, before number: Int64?) async throws -> [AdReport] {
    look { state in
      let numbered = state.reports.enumerated().map { place, report in
        var report = report
        report.number = Int64(place + 1)
        return report
      }
      return Array(numbered.filter { $0.number < number ?? .max && $0.device == device ?? $0.device }.suffix(limit))
    }
  }

  package func addTeam(_ id: String) async throws {
    try Self.require(id.utf8.count == 10 || fault == .acceptsAnything, .invalid)
    state.withLock { _ = $0.teams.insert(id) }
  }

  package func removeTeam(_ id: String) async throws {
    try Self.require(teams.contains(id), .unknown)
    let isOwner = keys.contains { $0.team == id } || apps.contains { $0.team == id }
    try Self.require(!isOwner || fault == .removesOwners, .conflict)
    state.withLock { _ = $0.teams.remove(id) }
  }

  package func addKey(_ key: ProviderKey) async throws {
    try Self.require(self.key(key.id) == nil && teams.contains(key.team), .conflict)
    state.withLock { state in
      state.keys[key.id] = key
      state.generation += 1
    }
  }

  package func removeKey(_ id: String) async throws {
    try Self.require(key(id) != nil, .unknown)
    state.withLock { state in
      state.keys[id] = nil
      if fault != .keepsGeneration { state.generation += 1 }
    }
  }

  package func putApp(
    topic: String, name: String, icon: String, policyMode: PolicyMode, isStrict: Bool, ads: AdMode, team: String?
  ) async throws -> App {
    try Self.require(Topic.isWellFormed(topic.utf8) && !name.isEmpty, .invalid)
    try Self.require(ShownName.isValid(icon) && icon.count <= 2, .invalid)
    try Self.require(team.map(teams.contains) ?? true, .unknown)
    return state.withLock { state in
      if fault != .keepsGeneration { state.generation += 1 }
      let known = state.apps.values.first { $0.topic == topic }?.id
      let former = fault == .reusesNumbers ? state.formerApps.first : nil
      let app = App(
        id: known ?? former ?? AppID(row: state.row()), topic: topic, name: name, icon: icon, policyMode: policyMode,
        isStrict: isStrict, ads: ads, team: fault == .forgetsTeams ? nil : team,
        sendsMarketing: known.flatMap { state.apps[$0]?.sendsMarketing } ?? false,
        knownCategories: known.flatMap { state.apps[$0]?.knownCategories }.map { Set($0) },
        measure: known.flatMap { state.apps[$0]?.measure })
      state.apps[app.id] = app
      state.oldApps[app.id] = state.oldApps[app.id] ?? app
      return app
    }
  }

  package func noteMarketing(of app: AppID) async throws {
    state.withLock { state in
      state.apps[app] = state.apps[app]?.withMarketing
      state.generation += 1
    }
  }

  package func setMeasure(
    _ measure: SummaryMeasure, of app: AppID, replacing former: SummaryMeasure
  ) async throws -> Bool {
    state.withLock { state in
      guard let known = state.apps[app], (known.measure ?? .never) == former else { return false }
      state.apps[app] = known.with(measure: measure)
      state.generation += 1
      return true
    }
  }

  package func setKnownCategories(_ known: Set<String>?, of app: AppID) async throws {
    state.withLock { state in
      state.apps[app] = state.apps[app]?.with(knownCategories: known)
      state.generation += 1
    }
  }

  package func registrationCount(of app: AppID, now: Int64) async throws -> Int {
    look { state in
      state.registrations.count { $0.app == app && $0.unregistered == nil && !$0.isExpired(at: now) }
    }
  }

  package func endRegistrations(for app: AppID, now: Int64) async throws -> [DeviceID] {
    state.withLock { state in
      for place in state.registrations.indices where state.registrations[place].app == app {
        state.registrations[place].unregistered = state.registrations[place].unregistered ?? now
      }
      let devices = Set(state.registrations.filter { $0.app == app }.map(\.device))
      return devices.filter { state.former[$0] == nil }.sorted { $0.row < $1.row }
    }
  }

  package func remove(_ app: AppID) async throws {
    state.withLock { state in
      state.registrations.removeAll { $0.app == app }
      state.reports.removeAll { $0.app == app }
      (state.categories[app], state.questions[app], state.apps[app]) = (nil, nil, nil)
      state.formerApps.append(app)
      state.generation += 1
    }
  }

  package func putCategory(
    _ app: AppID, _ category: String, _ actions: [AlertAction], expires: Int64?
  ) async throws {
    try Self.require(!category.isEmpty, .invalid)
    state.withLock { state in
      state.categories[app, default: [:]][category] = actions
      state.questions[app, default: [:]][category] = expires
    }
  }

  package func removeCategory(_ app: AppID, _ category: String) async throws {
    if fault == .keepsQuestions { return }
    state.withLock { state in
      state.categories[app]?[category] = nil
      state.questions[app]?[category] = nil
    }
  }

  package func expireCategories(now: Int64) async throws {
    let ended = look { state in
      state.questions.flatMap { app, ends in ends.filter { $0.value <= now }.map { (app, $0.key) } }
    }
    for (app, category) in ended { try await removeCategory(app, category) }
  }

  package func enroll(
    name: String, person: String?, by authorization: EnrollmentAuthorization
  ) async throws -> (device: Device, secret: String) {
    try state.withLock { state in
      let before = state
      do {
        let (owner, role) = try Self.admit(authorization, person: person, name, &state, fault)
        return try Self.enroll(name, owner, role, &state)
      } catch {
        if fault != .usesUpInvitations { state = before }
        if (error as? RegistrationRefusal)?.kind == .wrongCode, fault != .letsGuess {
          Self.noteWrong(authorization, &state)
        }
        throw error
      }
    }
  }

  private static func noteWrong(_ authorization: EnrollmentAuthorization, _ state: inout State) {
    guard case .invitation(let secret, _) = authorization, let selector = InvitationCode.selector(of: secret) else {
      return
    }
    for place in state.invitations.indices
    where InvitationCode.selector(of: state.invitations[place].secret) == selector {
      state.invitations[place].tries += 1
    }
    state.invitations.removeAll { $0.tries >= Limits.invitationTries }
  }

  private static func admit(
    _ authorization: EnrollmentAuthorization, person: String?, _ name: String, _ state: inout State, _ fault: Fault?
  ) throws(RegistrationRefusal) -> (person: String, role: Role) {
    let owner = person ?? name
    let isNew = !state.persons.values.contains { $0.name == owner }
    switch authorization {
    case .anyPerson: return (owner, .device)
    case .newPerson:
      try require(isNew || fault == .joinsAnybody, .forbidden)
      return (owner, .device)
    case .invitation(let secret, let now):
      let terms = try use(secret, now: now, &state, fault)
      guard let invited = terms.person else {
        if terms.channel != nil { try require(!state.devices.contains { $0.device.name == name }, .conflict) }
        try require(isNew || fault == .joinsAnybody, .forbidden)
        return (owner, terms.role)
      }
      try require(person == nil || person == invited || fault == .joinsAnybody, .forbidden)
      return (fault == .joinsAnybody ? owner : invited, terms.role)
    }
  }

  private static func use(
    _ secret: String, now: Int64, _ state: inout State, _ fault: Fault?
  ) throws(RegistrationRefusal) -> InvitationTerms {
    let found = state.invitations.firstIndex { $0.secret == secret && $0.invitation.terms.expires > now }
    guard let place = found else { throw refusal(.wrongCode) }
    let terms = state.invitations[place].invitation.terms
    if fault != .redeemsTwice { state.invitations[place].invitation.terms.uses -= 1 }
    if state.invitations[place].invitation.terms.uses <= (fault == .usesUpLinks ? 2 : 0) {
      state.invitations.remove(at: place)
    }
    return terms
  }

  private static func enroll(
    _ name: String, _ person: String, _ role: Role, _ state: inout State
  ) throws(RegistrationRefusal) -> (device: Device, secret: String) {
    try require(!name.isEmpty, .invalid)
    try require(!state.devices.contains { $0.device.name == name }, .conflict)
    let owner = state.persons.values.first { $0.name == person }?.id ?? PersonID(row: state.row())
    state.persons[owner] = state.persons[owner] ?? Person(id: owner, name: person, preferences: Preferences())
    let device = Device(id: DeviceID(row: state.row()), uuid: "\(state.lastRow)", name: name, person: owner, role: role)
    let secret = DeviceToken.random().hex
    state.devices.append((device, secret))
    return (device, secret)
  }

  package func register(
    _ device: DeviceID, topic: String, environment: Environment, expires: Int64?, now: Int64
  ) async throws -> Registration {
    let app = try app(topic: topic)
    return state.withLock { state in
      let known = state.registrations.first {
        $0.device == device && $0.app == app.id && $0.environment == environment && $0.unregistered == nil
          && !$0.isExpired(at: now)
      }
      if let known, fault != .givesNewTokens { return known }
      let registration = Registration(
        token: .random(), device: device, app: app.id, environment: environment, expires: expires)
      state.registrations.append(registration)
      return registration
    }
  }

  package func unregister(_ device: DeviceID, topic: String, now: Int64) async throws {
    let app = try app(topic: topic)
    try Self.require(registrations(of: device).contains { $0.1.id == app.id }, .unknown)
    state.withLock { state in
      for place in state.registrations.indices
      where state.registrations[place].device == device && state.registrations[place].app == app.id {
        state.registrations[place].unregistered = state.registrations[place].unregistered ?? now
      }
    }
  }

  package func changePreferences(
    of person: PersonID, _ change: @escaping @Sendable (inout Preferences) throws -> Void
  ) async throws -> Preferences {
    try state.withLock { state in
      let current = state.persons[person]?.preferences ?? Preferences()
      var changed = fault == .undoesChoices ? state.oldChoices[person] ?? current : current
      try change(&changed)
      _ = try changed.stored()
      state.oldChoices[person] = current
      state.persons[person]?.preferences = changed
      // Listeners are notified under the lock, so that they receive the changes in order.
      notify(.preferences(person, changed))
      return changed
    }
  }

  package func putCertificate(_ certificate: ProviderCertificate) async throws {
    state.withLock { state in
      state.certificates.removeAll { $0.fingerprint == certificate.fingerprint }
      state.certificates.append(certificate)
    }
    if certificate.revoked != nil, fault != .revokesSilently { notify(.revokedCertificate(certificate.fingerprint)) }
  }

  package func add(_ report: AdReport) async throws {
    state.withLock { state in
      let isKnown = state.reports.contains { $0.id == report.id && $0.device == report.device }
      if !isKnown || fault == .repeatsReports { state.reports.append(report) }
    }
  }

  package func review(adReport number: Int64, as review: AdReport.Review?) async throws {
    try state.withLock { state in
      try Self.require(number >= 1 && number <= state.reports.count, .unknown)
      state.reports[Int(number) - 1].review = review
    }
  }

  package func invite(_ terms: InvitationTerms) async throws -> (secret: String, invitation: Invitation) {
    try Self.require(Role.invitable.contains(terms.role) || fault == .acceptsAnything, .invalid)
    let isPlain = terms.person == nil && terms.role == .device
    try Self.require(terms.channel == nil || isPlain || fault == .grantsByLink, .invalid)
    let isShort = terms.uses == 1 && (terms.channel == nil || fault == .shortensLinks)
    let secret = InvitationCode.newSecret(isShort ? .once : .shared)
    let invitation = Invitation(id: String(DeviceToken.random().hex.prefix(16)), terms)
    state.withLock { $0.invitations.append((secret, invitation, 0)) }
    return (secret, invitation)
  }

  package func invitations(now: Int64) async throws -> [Invitation] {
    look { state in
      state.invitations.map(\.invitation).filter { $0.terms.expires > now }
        .sorted { $0.terms.expires < $1.terms.expires }
    }
  }

  package func invitation(sharedSecret secret: String, now: Int64) async throws -> Invitation? {
    guard InvitationCode.selector(of: secret) == nil else { return nil }
    return look { state in
      state.invitations.first { $0.secret == secret && $0.invitation.terms.expires > now }?.invitation
    }
  }

  package func redeem(_ secret: String, now: Int64) async throws {
    try state.withLock { state in
      let authorization = EnrollmentAuthorization.invitation(secret, now: now)
      do {
        var used = state
        _ = try Self.use(secret, now: now, &used, fault)
        if fault != .redeemsForNothing { state = used }
      } catch {
        Self.noteWrong(authorization, &state)
        throw error
      }
    }
  }

  package func withdrawInvitations(to channels: Set<ChannelID>) async throws {
    guard fault != .keepsLinks else { return }
    state.withLock { state in
      state.invitations.removeAll { $0.invitation.terms.channel.map(channels.contains) ?? false }
    }
  }

  package func withdraw(invitation id: String) async throws {
    try state.withLock { state in
      try Self.require(state.invitations.contains { $0.invitation.id == id }, .unknown)
      if fault != .keepsInvitations { state.invitations.removeAll { $0.invitation.id == id } }
    }
  }

  package func enroll(
    batch name: String, numbers: Range<Int>, topic: String, environment: Environment
  ) async throws -> [(secret: String, token: DeviceToken)] {
    try Self.require(Self.isBatchName(name), .invalid)
    let app = try app(topic: topic)
    return try state.withLock { state in
      let before = state
      do {
        return try numbers.map { number -> (secret: String, token: DeviceToken) in
          let name = "\(name)-\(number)"
          try Self.require(!state.persons.values.contains { $0.name == name }, .conflict)
          let (device, secret) = try Self.enroll(name, fault == .sharesPersons ? app.name : name, .device, &state)
          let registration = Registration(
            token: .random(), device: device.id, app: app.id, environment: environment)
          state.registrations.append(registration)
          return (secret, registration.token)
        }
      } catch {
        if fault != .enrollsHalfBatches { state = before }
        throw error
      }
    }
  }

  package func remove(batch name: String) async throws -> [(device: DeviceID, app: AppID)] {
    try Self.require(Self.isBatchName(name), .invalid)
    let removed: [Registration] = state.withLock { state in
      let gone = state.devices.map(\.device).filter { device in
        guard device.name.hasPrefix(name + "-") else { return false }
        let number = device.name.dropFirst(name.count + 1)
        return fault == .removesTooMuch || (!number.isEmpty && number.allSatisfy { $0.isASCII && $0.isNumber })
      }
      let ids = Set(gone.map(\.id))
      let removed = state.registrations.filter { ids.contains($0.device) }
      state.registrations.removeAll { ids.contains($0.device) }
      state.devices.removeAll { ids.contains($0.device.id) }
      for person in Set(gone.map(\.person)) where !state.devices.contains(where: { $0.device.person == person }) {
        state.persons[person] = nil
      }
      return removed
    }
    return removed.map { ($0.device, $0.app) }
  }

  private static func isBatchName(_ name: String) -> Bool {
    (1...32).contains(name.utf8.count) && name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }
  }
}
