import Foundation

/// A path of the API for administrators. Words in braces are placeholders, one for each argument.
///
/// ```swift
/// AdminPath.registrations("me")  // /admin/v1/devices/me/registrations
/// ```
package struct AdminPath: Sendable {
  /// The path with its placeholders, as in the gateway's table of routes.
  package let pattern: String

  private init(_ pattern: String) { self.pattern = "/admin/v1/" + pattern }

  /// Returns the path with the percent-encoded arguments at the placeholders.
  package func callAsFunction(_ arguments: String...) -> String {
    var arguments = arguments[...]
    let parts = pattern.split(separator: "/", omittingEmptySubsequences: false).map { part in
      part.hasPrefix("{") ? pathPart(arguments.removeFirst()) : String(part)
    }
    assert(arguments.isEmpty, "\(pattern) has an argument for each placeholder")
    return parts.joined(separator: "/")
  }

  package static let status = AdminPath("status")
  package static let settings = AdminPath("settings")
  package static let reload = AdminPath("reload")
  package static let restart = AdminPath("restart")
  package static let backup = AdminPath("backup")
  package static let compact = AdminPath("compact")
  package static let audit = AdminPath("audit")
  package static let metrics = AdminPath("metrics")
  package static let metricsHistory = AdminPath("metrics/history")
  package static let logLevel = AdminPath("log-level")
  package static let connections = AdminPath("connections")
  package static let faults = AdminPath("faults")
  package static let fault = AdminPath("faults/{name}")
  package static let tokens = AdminPath("tokens")
  package static let token = AdminPath("tokens/{name}")
  package static let consoleLinks = AdminPath("console/links")
  package static let teams = AdminPath("teams")
  package static let team = AdminPath("teams/{id}")
  package static let keys = AdminPath("keys")
  package static let key = AdminPath("keys/{id}")
  package static let certificates = AdminPath("certificates")
  package static let serverCertificate = AdminPath("certificates/server")
  package static let certificateRollover = AdminPath("certificates/rollover")
  package static let certificateRevocations = AdminPath("certificates/revocations")
  package static let apps = AdminPath("apps")
  package static let app = AdminPath("apps/{topic}")
  package static let categories = AdminPath("apps/{topic}/categories")
  package static let category = AdminPath("apps/{topic}/categories/{category}")
  package static let adReports = AdminPath("ads/reports")
  package static let adReport = AdminPath("ads/reports/{number}")
  package static let standings = AdminPath("ads/standing")
  package static let standing = AdminPath("ads/standing/{topic}")
  package static let devices = AdminPath("devices")
  package static let device = AdminPath("devices/{name}")
  package static let deviceSecret = AdminPath("devices/{name}/secret")
  package static let registrations = AdminPath("devices/{name}/registrations")
  package static let registration = AdminPath("devices/{name}/registrations/{topic}")
  package static let preferences = AdminPath("devices/{name}/preferences")
  package static let replay = AdminPath("devices/{name}/replay")
  package static let deviceChannels = AdminPath("devices/{name}/channels")
  package static let deviceAlert = AdminPath("devices/{name}/alerts/{id}")
  package static let persons = AdminPath("persons")
  package static let person = AdminPath("persons/{name}")
  package static let personName = AdminPath("persons/{name}/name")
  package static let groups = AdminPath("groups")
  package static let group = AdminPath("groups/{name}")
  package static let groupMember = AdminPath("groups/{name}/members/{person}")
  package static let groupRegistrations = AdminPath("groups/{name}/registrations")
  package static let groupRegistration = AdminPath("groups/{name}/registrations/{topic}")
  package static let groupAlert = AdminPath("groups/{name}/alerts/{id}")
  package static let senders = AdminPath("senders")
  package static let sender = AdminPath("senders/{name}")
  package static let senderToken = AdminPath("senders/{name}/token")
  package static let senderTest = AdminPath("senders/{name}/test")
  package static let eventTargets = AdminPath("event-targets")
  package static let eventTarget = AdminPath("event-targets/{name}")
  package static let eventTargetSecret = AdminPath("event-targets/{name}/secret")
  package static let eventTargetTest = AdminPath("event-targets/{name}/test")
  package static let eventTargetResume = AdminPath("event-targets/{name}/resume")
  package static let expectations = AdminPath("expectations")
  package static let expectation = AdminPath("expectations/{sender}")
  package static let batches = AdminPath("batches")
  package static let batch = AdminPath("batches/{name}")
  package static let invitations = AdminPath("invitations")
  package static let invitation = AdminPath("invitations/{id}")
  package static let channels = AdminPath("channels")
  package static let channelFeatures = AdminPath("channels/features")
  package static let channel = AdminPath("channels/{id}")
  package static let channelSubscriptions = AdminPath("channels/{id}/subscriptions")
  package static let channelSubscription = AdminPath("channels/{id}/subscriptions/{device}")
  package static let channelShares = AdminPath("channels/{id}/shares")
  package static let shares = AdminPath("shares")
  package static let share = AdminPath("shares/{id}")
  package static let pushes = AdminPath("pushes")
  package static let pushCheck = AdminPath("pushes/check")
  package static let scheduled = AdminPath("scheduled")
  package static let scheduledPush = AdminPath("scheduled/{id}")
  package static let log = AdminPath("log")
  package static let logStart = AdminPath("log/start")
  package static let logNext = AdminPath("log/next")
}

/// Percent-encodes a text as one part of a path.
package func pathPart(_ text: String) -> String {
  text.addingPercentEncoding(withAllowedCharacters: .alphanumerics.union(CharacterSet(charactersIn: "-._~"))) ?? text
}
