import Foundation
package import PushCore
package import PushPolicy

/// Teams, keys, apps, users, devices, tokens and certificates. ``SQLiteRegistrations`` is one storage backend; others
/// have to pass `RegistrationsConformance`.
///
/// A change is durable, as the storage backend guarantees, when its call returns. Later reads through the same storage
/// backend include it.
///
/// Reads never suspend for a disk or a network, because every push is checked on the hot path: a storage backend keeps
/// the data in memory. A storage backend that shares its data with other gateways may lag behind them by a time that
/// its own documentation states.
///
/// ``unregister(_:topic:now:)`` keeps a token with its time, for the reason `Unregistered`. The token is forgotten only
/// for a new one of a device that has had ``Limits/maximumDeviceTokens``.
package protocol Registrations: AnyObject, Sendable {
  /// Calls `listener` after every change, on any thread.
  func onChange(_ listener: @escaping @Sendable (RegistrationChange) -> Void)

  // The hot path

  /// Returns a token's registration and its app, if the gateway ever issued the token.
  func registration(_ token: DeviceToken) -> (Registration, App)?
  /// A number that changes whenever a key or an app changes, so that cached verifications end with the data that
  /// they depend on.
  var keyGeneration: UInt64 { get }
  func key(_ id: String) -> ProviderKey?
  func app(_ id: AppID) -> App?
  /// Returns the preferences of the user who owns a device.
  func preferences(of device: DeviceID) -> Preferences
  func device(secret: String) -> Device?
  func isRevoked(certificate fingerprint: [UInt8]) -> Bool
  /// Returns the actions with which a user can answer pushes of a category.
  func actions(of app: AppID, _ category: String) -> [AlertAction]
  /// Returns true if a category belongs to a question: it was created with an expiration time.
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
  /// Returns the tokens of a device that are in use, with their apps.
  func registrations(of device: DeviceID) -> [(Registration, App)]
  func categories(of app: AppID) -> [String: [AlertAction]]
  /// Returns a device as lists show it; nil if the device does not exist.
  func listed(_ device: DeviceID) -> ListedDevice?
  /// Returns one page of the devices, in the order of the bytes of their names, without devices that were
  /// removed since.
  func listDevices(_ page: ListPage) async throws -> [DeviceID]
  /// Returns one page of the users, in the order of the bytes of their names.
  func listPersons(_ page: ListPage) async throws -> [PersonID]
  /// Returns the newest reports of advertising, the newest last.
  ///
  /// - Parameters:
  ///   - device: the device whose reports are returned; nil: all devices.
  ///   - number: the number below which reports are returned; nil: all.
  func adReports(of device: DeviceID?, limit: Int, before number: Int64?) async throws -> [AdReport]

  // Changes. Each throws a ``RegistrationRefusal`` for an invalid change, and ``StoreError`` when it is not stored.

  func addTeam(_ id: String) async throws
  /// Removes a team that has no keys and no apps.
  func removeTeam(_ id: String) async throws
  func addKey(_ key: ProviderKey) async throws
  func removeKey(_ id: String) async throws
  /// Adds an app, or changes its settings.
  ///
  /// - Parameter team: the team whose keys may push to the app; nil: the keys of every team.
  func putApp(
    topic: String, name: String, icon: String, policyMode: PolicyMode, isStrict: Bool, ads: AdMode, team: String?
  ) async throws -> App
  /// Stores that a sender has declared a push of the app as marketing; an unknown app is ignored.
  func noteMarketing(of app: AppID) async throws
  /// Lets new categories of an app start quiet, or ends that; an unknown app is ignored.
  ///
  /// - Parameter known: the categories that do not start quiet; nil: no category does.
  func setKnownCategories(_ known: Set<String>?, of app: AppID) async throws
  /// Stores the period in which an app's alerts go to the summary, or an exemption; an unknown app is ignored.
  ///
  /// - Parameter former: the present value. If another gateway has stored a different one, nothing changes.
  /// - Returns: true if the value was stored.
  func setMeasure(_ measure: SummaryMeasure, of app: AppID, replacing former: SummaryMeasure) async throws -> Bool
  /// Counts the registrations for an app that are in use at `now`, in milliseconds since 1970.
  func registrationCount(of app: AppID, now: Int64) async throws -> Int
  /// Ends all registrations for an app at `now`, in milliseconds since 1970.
  ///
  /// - Returns: the devices that are, or were, registered for the app.
  func endRegistrations(for app: AppID, now: Int64) async throws -> [DeviceID]
  /// Removes an app with its tokens, categories and reports of advertising. Its number is not given out again.
  func remove(_ app: AppID) async throws
  /// Adds a category, or changes it.
  ///
  /// - Parameter expires: the time at which the category expires, in seconds since 1970; nil: never. Each app has at
  ///   most ``Limits/maximumQuestions`` categories that expire.
  func putCategory(_ app: AppID, _ category: String, _ actions: [AlertAction], expires: Int64?) async throws
  /// Removes a category; a category that does not exist is not an error.
  func removeCategory(_ app: AppID, _ category: String) async throws
  /// Removes the categories that have expired at `now`, in seconds since 1970.
  func expireCategories(now: Int64) async throws
  /// Enrolls a device. Without `person`, a user with the device's name is created. A refused enrollment changes nothing
  /// and leaves the invitation unused.
  ///
  /// - Returns: the device and its secret, which is stored only as a hash.
  func enroll(
    name: String, person: String?, by authorization: EnrollmentAuthorization
  ) async throws -> (device: Device, secret: String)
  /// Removes a device. Its secret becomes invalid, and its tokens end at `now`, in milliseconds since 1970. Its number
  /// is not given out again.
  ///
  /// - Returns: the apps for which the device was registered.
  func remove(_ device: DeviceID, now: Int64) async throws -> [AppID]
  /// Gives a device another secret and returns it; the previous one becomes invalid.
  func rotateSecret(of device: DeviceID) async throws -> String
  /// Stores the times at which devices were connected, in seconds since 1970. Removed devices are ignored.
  func note(seen: [DeviceID: Int64]) async throws
  /// Gives a user another name, which must not be in use.
  func rename(_ person: PersonID, to name: String) async throws
  /// Returns every device that a user has or had.
  func allDevices(of person: PersonID) async throws -> Set<DeviceID>
  /// Removes a user without devices, with the preferences and reports.
  func remove(_ person: PersonID) async throws
  /// Registers a device for an app. A token that the device already has and that has not expired is used again.
  ///
  /// - Parameters:
  ///   - expires: the time at which a new token expires, in milliseconds since 1970; nil: never.
  ///   - now: the time in milliseconds since 1970.
  func register(
    _ device: DeviceID, topic: String, environment: Environment, expires: Int64?, now: Int64
  ) async throws -> Registration
  /// Ends a device's registrations for an app at `now`, in milliseconds since 1970.
  func unregister(_ device: DeviceID, topic: String, now: Int64) async throws
  /// Changes some of a user's preferences. Changes are applied one after another, so that none overwrites another.
  ///
  /// - Returns: all preferences of the user.
  func changePreferences(
    of person: PersonID, _ change: @escaping @Sendable (inout Preferences) throws -> Void
  ) async throws -> Preferences
  /// Stores a certificate: one that the gateway issued, or a certificate of another CA that is revoked.
  func putCertificate(_ certificate: ProviderCertificate) async throws
  /// Stores a report; a second report of the same push changes nothing.
  func add(_ report: AdReport) async throws
  /// Stores the review of a report; nil removes it.
  ///
  /// - Throws: ``RegistrationRefusal`` for an unknown number.
  func review(adReport number: Int64, as review: AdReport.Review?) async throws
  /// Creates an invitation. A wrong secret with the selector of a short one (``InvitationCode/selector(of:)``) counts
  /// as a failed attempt; after ``Limits/invitationTries`` attempts the invitation becomes invalid.
  ///
  /// - Returns: the invitation and its secret, which is stored only as a hash.
  func invite(_ terms: InvitationTerms) async throws -> (secret: String, invitation: Invitation)
  /// Returns the invitations that may still be used at `now`, in seconds since 1970, in the order of their expiration.
  func invitations(now: Int64) async throws -> [Invitation]
  /// Returns the invitation of a long secret that may still be used at `now`, in seconds since 1970; nil for any other
  /// secret. A long secret can't be guessed, so a call counts as no attempt.
  func invitation(sharedSecret: String, now: Int64) async throws -> Invitation?
  /// Uses the invitation of a secret once, for a device that is already enrolled.
  func redeem(_ secret: String, now: Int64) async throws
  func withdraw(invitation id: String) async throws
  func withdrawInvitations(to channels: Set<ChannelID>) async throws

  // Many devices at once, for load tests

  /// Enrolls devices named `NAME-NUMBER`, each with a user of its own, and registers each for one app.
  ///
  /// - Returns: their secrets, which are stored only as hashes, and their tokens, in the order of the numbers.
  func enroll(
    batch name: String, numbers: Range<Int>, topic: String, environment: Environment
  ) async throws -> [(secret: String, token: DeviceToken)]
  /// Removes the devices of a batch, their users and their tokens.
  ///
  /// - Returns: the devices, whose pending pushes have no recipient any longer, and the apps for which they
  ///   were registered.
  func remove(batch name: String) async throws -> [(device: DeviceID, app: AppID)]
}

/// The reason why a registration or another change is refused. The text is for users.
package struct RegistrationRefusal: Error, CustomStringConvertible {
  package enum Kind: Sendable {
    case invalid, unknown, conflict, forbidden
    /// The code belongs to no invitation: the sender may be guessing.
    case wrongCode
  }
  package var kind: Kind
  package var description: String

  package init(kind: Kind, description: String) {
    self.kind = kind
    self.description = description
  }
}

/// A change that affects open streams.
package enum RegistrationChange: Sendable {
  case preferences(PersonID, Preferences)
  /// The secrets of these devices became invalid: the devices were removed, or got other secrets.
  case revokedDevices([DeviceID])
  /// The fingerprint of a provider's certificate that became invalid.
  case revokedCertificate([UInt8])
}

extension Preferences {
  /// Returns the preferences in the form in which a storage backend keeps them.
  ///
  /// - Throws: a ``RegistrationRefusal`` when they are larger than ``Limits/maximumPreferencesSize``.
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
