import PushCore
import PushPolicy
import PushStorage

/// Removes an app with everything that refers to it: registrations, pending pushes, channels, categories, answers,
/// preferences. Rows of the delivery log stay until they expire.
///
/// The app itself is removed last, so that the same request completes an operation that a crash interrupted.
struct RemoveApp: Sendable {
  let registrations: any Registrations
  let mailbox: any Mailbox
  let held: DeferredPushes
  let schedule: Schedule
  let channels: Channels
  let manageChannels: ManageChannels
  let groups: Groups
  let answers: Answers
  let retractions: Retractions
  let clock: WallClock

  /// - Throws: a refusal that lists the data of an app that would be removed with it, if there is any.
  func requireUnused(_ app: App) async throws {
    let tokens = try await registrations.registrationCount(of: app.id, now: clock.milliseconds())
    let environments = [Environment.development, .production]
    let channelCount = environments.reduce(0) { $0 + channels.channels(of: app.id, environment: $1).count }
    let counts = [
      ("registration", tokens + groups.registrationCount(of: app.id)), ("channel", channelCount),
      ("scheduled push", schedule.pushes.count(of: app.id)),
    ].filter { $0.1 > 0 }
    if counts.isEmpty { return }
    let words = counts.map { name, count in
      "\(count) \(name)\(count == 1 ? "" : name.hasSuffix("h") ? "es" : "s")"
    }
    throw RegistrationRefusal(
      kind: .conflict,
      description:
        "\(app.topic) has \(words.joined(separator: ", ")): `pushcli apps remove \(app.topic) --yes` removes them, too")
  }

  func callAsFunction(_ app: App) async throws {
    try await groups.forget(app.id)
    let devices = try await registrations.endRegistrations(for: app.id, now: clock.milliseconds())
    try await schedule.purge(app.id)
    try await mailbox.purge(devices, app: app.id)
    held.purge(app.id)
    await held.settle()
    try await manageChannels.setBroadcast(false, app: app.id)
    try await channels.forget(app.id)
    try await answers.forget(app.id)
    try await retractions.forget(app.id)
    for person in registrations.persons where person.preferences.apps[app.topic] != nil {
      _ = try await registrations.changePreferences(of: person.id) { $0.apps[app.topic] = nil }
    }
    try await registrations.remove(app.id)
  }
}
