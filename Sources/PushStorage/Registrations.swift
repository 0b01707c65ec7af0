import Foundation
package import PushCore
package import PushPolicy

/// Teams, keys, apps, persons, devices, tokens and certificates. One home is SQLite (``SQLiteRegistrations``); others may
/// join it, and pass `RegistrationsConformance`.
///
/// A change is durable, as the home promises, when its call returns, and is seen by what is asked afterwards through the
/// same home. Reading never waits: a push is checked on the hot path, so a home keeps at hand what it answers, and one that
/// shares it with other gateways may be behind them by as long as its own documentation says. Of a token
/// ``unregister(_:topic:now:)`` leaves the time for `Unregistered`: it is forgotten only for a new one of a device that has
/// had ``Limits/maximumDeviceTokens``.
package protocol Registrations: AnyObject, Sendable {
  /// Calls `listener` after every change, on any thread.
  func onChange(_ listener: @escaping @Sendable (RegistrationChange) -> Void)

  // The hot path

  /// A token and its app, when the token was ever ours.
  func registration(_ token: DeviceToken) -> (Registration, App)?
  /// Changes whenever a key or an app does, so that what was verified is not believed for longer than it holds.
  var keyGeneration: UInt64 { get }
  func key(_ id: String) -> ProviderKey?
  func app(_ id: AppID) -> App?
  /// The choices of the person who owns a device.
  func preferences(of device: DeviceID) -> Preferences
  /// The device with this secret.
  func device(secret: String) -> Device?
  func isRevoked(certificate fingerprint: [UInt8]) -> Bool
  /// What may be answered to a category's pushes.
  func actions(of app: AppID, _ category: String) -> [AlertAction]
  /// Whether a category is a question's: it was put with an end.
  func isQuestion(_ app: AppID, _ category: String) -> Bool

  // Lists

  var teams: [String] { get }
  var keys: [ProviderKey] { get }
  var apps: [App] { get }
  var devices: [Device] { get }
  var certificates: [ProviderCertificate] { get }
  func hasApp(topic: String) -> Bool
  func app(topic: String) throws(RegistrationRefusal) -> App
  func device(named name: String) throws(RegistrationRefusal) -> Device
  func device(_ id: DeviceID) -> Device?
  func person(_ id: PersonID) -> Person?
  var persons: [Person] { get }
  func person(named name: String) throws(RegistrationRefusal) -> Person
  func devices(of person: PersonID) -> [DeviceID]
  /// The tokens of a device that are in use, with their apps.
  func registrations(of device: DeviceID) -> [(Registration, App)]
  func categories(of app: AppID) -> [String: [AlertAction]]
  /// A device as lists show it; nil when it is gone.
  func listed(_ device: DeviceID) -> ListedDevice?
  /// One page of the devices, in the order of the bytes of their names; of one that has gone since, nothing.
  func listDevices(_ page: ListPage) async throws -> [DeviceID]
  /// One page of the persons, in the order of the bytes of their names.
  func listPersons(_ page: ListPage) async throws -> [PersonID]
  /// The newest reports of advertising, the newest last.
  ///
  /// - Parameters:
  ///   - device: whose reports; nil: everybody's.
  ///   - number: only those that came before this one; nil: all.
  func adReports(of device: DeviceID?, limit: Int, before number: Int64?) async throws -> [AdReport]

  // Changes. Each throws a ``RegistrationRefusal`` for what can't be, and ``StoreError`` when it is not kept.

  func addTeam(_ id: String) async throws
  /// Forgets a team that has no keys and no apps.
  func removeTeam(_ id: String) async throws
  func addKey(_ key: ProviderKey) async throws
  func removeKey(_ id: String) async throws
  /// Adds an app, or changes what is known of it.
  ///
  /// - Parameter team: whose keys may push to it; nil: those of every team.
  func putApp(
    topic: String, name: String, icon: String, policyMode: PolicyMode, isStrict: Bool, ads: AdMode, team: String?
  ) async throws -> App
  /// Counts the registrations for an app that are in use at `now`, in milliseconds since 1970.
  func registrationCount(of app: AppID, now: Int64) async throws -> Int
  /// Ends all registrations for an app at `now`, in milliseconds since 1970.
  ///
  /// - Returns: the devices that are, or were, registered for it.
  func endRegistrations(for app: AppID, now: Int64) async throws -> [DeviceID]
  /// Forgets an app with its tokens, categories and reports of advertising. Its number is not given out again.
  func remove(_ app: AppID) async throws
  /// Adds a category, or changes it.
  ///
  /// - Parameter expires: when it ends, in seconds since 1970, of at most ``Limits/maximumQuestions`` for each app; nil: it
  ///   stays.
  func putCategory(_ app: AppID, _ category: String, _ actions: [AlertAction], expires: Int64?) async throws
  /// Removes a category; that there is none is no error.
  func removeCategory(_ app: AppID, _ category: String) async throws
  /// Removes the categories whose end has come at `now`, in seconds since 1970.
  func expireCategories(now: Int64) async throws
  /// Enrolls a device; without a person it gets one of its own name. Nothing is changed, and no invitation used up, when
  /// it is refused.
  ///
  /// - Returns: the device and its secret, which is kept only as a hash.
  func enroll(
    name: String, person: String?, by warrant: EnrollmentAuthorization
  ) async throws -> (device: Device, secret: String)
  /// Forgets a device. Its secret is good no longer, and its tokens end at `now`, in milliseconds since 1970. Its number is
  /// not given out again.
  ///
  /// - Returns: the apps that it was registered for.
  func remove(_ device: DeviceID, now: Int64) async throws -> [AppID]
  /// Gives a device another secret; the one before is good no longer.
  func rotateSecret(of device: DeviceID) async throws -> String
  /// Keeps when devices were connected, in seconds since 1970; of one that is gone nothing.
  func note(seen: [DeviceID: Int64]) async throws
  /// Gives a person another name, which is free.
  func rename(_ person: PersonID, to name: String) async throws
  /// Every device that a person has or had.
  func allDevices(of person: PersonID) async throws -> Set<DeviceID>
  /// Forgets a person who has no device any longer, with the choices and reports.
  func remove(_ person: PersonID) async throws
  /// Registers a device for an app; the same token as before when there is one whose time is not over.
  ///
  /// - Parameters:
  ///   - expires: when a new token stops being valid, in milliseconds since 1970; nil: never.
  ///   - now: milliseconds since 1970.
  func register(
    _ device: DeviceID, topic: String, environment: Environment, expires: Int64?, now: Int64
  ) async throws -> Registration
  /// Ends a device's registrations for an app at `now`, in milliseconds since 1970.
  func unregister(_ device: DeviceID, topic: String, now: Int64) async throws
  /// Changes some of a person's choices; changes come one after another, so that none undoes another.
  ///
  /// - Returns: all of the person's choices.
  func changePreferences(
    of person: PersonID, _ change: @escaping @Sendable (inout Preferences) throws -> Void
  ) async throws -> Preferences
  /// Keeps what is known of a certificate: one that was issued, or one from elsewhere that is revoked.
  func putCertificate(_ certificate: ProviderCertificate) async throws
  /// Keeps a report; a second one of the same push changes nothing.
  func add(_ report: AdReport) async throws
  /// Makes an invitation. A wrong secret with the selector of a short one (``InvitationCode/selector(of:)``) counts as a
  /// try of it; after ``Limits/invitationTries`` it is good no longer.
  ///
  /// - Returns: its secret, too, which is kept only as a hash.
  func invite(_ terms: InvitationTerms) async throws -> (secret: String, invitation: Invitation)
  /// The invitations that may still be used at `now`, in seconds since 1970, those that end first before the others.
  func invitations(now: Int64) async throws -> [Invitation]
  /// The invitation of a long secret that may still be used at `now`, in seconds since 1970; nil for any other secret.
  /// Nobody guesses a long one, so asking counts as no try.
  func invitation(sharedSecret: String, now: Int64) async throws -> Invitation?
  /// Uses the invitation of a secret once, for a device that is there already; nobody enrolls.
  func redeem(_ secret: String, now: Int64) async throws
  /// Takes an invitation back, by its id.
  func withdraw(invitation id: String) async throws
  /// Takes the links of channels back.
  func withdrawInvitations(to channels: Set<ChannelID>) async throws

  // Many devices at once, for load tests

  /// Enrolls devices named `NAME-NUMBER`, each with a person of its own, and registers each for one app.
  ///
  /// - Returns: their secrets, which are kept only as hashes, and their tokens, in the order of the numbers.
  func enroll(
    batch name: String, numbers: Range<Int>, topic: String, environment: Environment
  ) async throws -> [EnrolledDevice]
  /// Forgets the devices of a batch, their persons and their tokens.
  ///
  /// - Returns: the devices, whose pushes nobody waits for any longer, and the apps they were registered for.
  func remove(batch name: String) async throws -> [(device: DeviceID, app: AppID)]
}

extension Registrations {
  /// Adds a category that stays, or changes it.
  package func putCategory(_ app: AppID, _ category: String, _ actions: [AlertAction]) async throws {
    try await putCategory(app, category, actions, expires: nil)
  }

  /// Replaces a person's choices.
  package func setPreferences(_ preferences: Preferences, of person: PersonID) async throws {
    _ = try await changePreferences(of: person) { $0 = preferences }
  }
}

/// Why something can't be registered. The text is for people.
package struct RegistrationRefusal: Error, CustomStringConvertible {
  package enum Kind: Sendable {
    case invalid, unknown, conflict, forbidden
    /// The code of no invitation: whoever sent it may be guessing.
    case wrongCode
  }
  package var kind: Kind
  package var description: String

  package init(kind: Kind, description: String) {
    self.kind = kind
    self.description = description
  }
}

/// A change that live streams care about.
package enum RegistrationChange: Sendable {
  case preferences(PersonID, Preferences)
  /// The secrets of these devices are no longer good: they were removed, or have others.
  case revokedDevices([DeviceID])
  /// The fingerprint of a provider's certificate that is no longer good.
  case revokedCertificate([UInt8])
}

extension Preferences {
  /// These choices as a home keeps them.
  ///
  /// - Throws: a refusal when they are more than ``Limits/maximumPreferencesSize``.
  package func stored() throws -> String {
    let text = try JSONEncoder().encode(self)
    guard text.count <= Limits.maximumPreferencesSize else {
      throw RegistrationRefusal(
        kind: .invalid,
        description:
          "too many preferences: \(text.count) bytes, expected at most \(Limits.maximumPreferencesSize) for a user")
    }
    return String(decoding: text, as: UTF8.self)
  }
}
