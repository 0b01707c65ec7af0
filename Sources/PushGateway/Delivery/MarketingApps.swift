import PushCore
import PushPolicy
import PushStorage

/// The apps that send marketing, from the requests of this event loop.
///
/// The first push that its sender declares as marketing adds the app. For pushes of all other apps, the answer is made
/// without the recipient's preferences. Not `Sendable`: it belongs to its event loop.
final class MarketingApps {
  private let registrations: any Registrations
  private var apps: Set<AppID> = []
  /// The apps that this event loop has stored or tried to store; none is removed.
  private var pending: Set<AppID> = []

  /// The value of `apns-marketing` in the answer to a sender.
  static let unsubscribed = "unsubscribed"

  init(registrations: any Registrations) { self.registrations = registrations }

  /// True if no app has sent marketing: no answer to an accepted push depends on preferences.
  var isEmpty: Bool { apps.isEmpty }

  /// Takes note of the app of a request.
  @inline(__always) func observe(_ app: App) {
    if app.sendsMarketing { apps.insert(app.id) }
  }

  /// Takes note of a push that its sender declares as marketing. The app is stored once; after a failure the next start
  /// of the gateway repeats it.
  func note(_ app: App) {
    apps.insert(app.id)
    guard !app.sendsMarketing, pending.insert(app.id).inserted else { return }
    let (registrations, id) = (registrations, app.id)
    Task { try? await registrations.noteMarketing(of: id) }
  }

  /// Returns true if the recipient of an accepted push has unsubscribed from the marketing of its app.
  func isUnsubscribed(_ push: StoredPush) -> Bool {
    guard apps.contains(push.app), !push.device.isGroup, let app = registrations.app(push.app) else {
      return false
    }
    return registrations.preferences(of: push.device).isUnsubscribed(from: app.topic)
  }
}
