import PushCore
import PushPolicy
import PushStorage

/// The reports of users that a push is advertising.
extension Pushes {
  /// Records a report about a push that the device was sent.
  ///
  /// - Parameter text: the text that the device showed; empty if it was not reported.
  /// - Returns: the app of the push.
  /// - Throws: ``RegistrationRefusal`` for an unknown app or push, a device without a registration for the app, and a text
  ///   above ``Limits/maximumPayloadSize``.
  func reportAd(_ id: APNSID, topic: String, text: String, by device: DeviceID) async throws -> AppID {
    let app = try registrations.app(topic: topic)
    guard registrations.registrations(of: device).contains(where: { $0.1.id == app.id }) else {
      throw RegistrationRefusal(kind: .invalid, description: "this device is not registered for \(topic)")
    }
    guard text.utf8.count <= Limits.maximumPayloadSize else {
      throw RegistrationRefusal(
        kind: .invalid, description: "the text is too large: expected at most \(Limits.maximumPayloadSize) bytes")
    }
    guard try await find(id, sentTo: device)?.app == app.id else {
      throw RegistrationRefusal(
        kind: .unknown, description: "this device received no push \(id) of \(topic): its log lists its pushes")
    }
    try await registrations.add(
      AdReport(at: clock.milliseconds(), device: device, app: app.id, id: id, text: text))
    return app.id
  }

  /// A report, with the device, the app and the detector's outcome.
  struct FoundAdReport: Sendable {
    var report: AdReport
    var device: Device?
    var app: App?
    /// The detector's outcome for the text now; nil without a text.
    var outcome: AdAssessment.Outcome?
  }

  /// Returns the newest reports before a number, in ascending order.
  ///
  /// - Parameter values: `limit` and `before` of a query.
  /// - Parameter device: the device whose reports are listed; nil: all devices.
  func adReports(_ values: [String: String], of device: DeviceID? = nil) async throws -> [FoundAdReport] {
    let limit = min(Limits.maximumListPage, max(1, values["limit"].flatMap(Int.init) ?? 1000))
    let number = values["before"].flatMap(Int64.init)
    let detector = AdDetector()
    return try await registrations.adReports(of: device, limit: limit, before: number).map { report in
      FoundAdReport(
        report: report, device: registrations.device(report.device), app: registrations.app(report.app),
        outcome: report.text.isEmpty ? nil : detector.assess([report.text]).outcome)
    }
  }
}
