import PushCore
import PushPolicy
import PushStorage

/// The apps that send marketing, as far as requests on this event loop have shown.
///
/// An app belongs to them from its first push that the sender declares as marketing. Pushes of all other apps need no
/// look at the recipient's preferences when they are answered. Not `Sendable`.
final class MarketingApps {
  private let registrations: any Registrations
  private var apps: Set<AppID> = []
  /// The apps that are being stored.
  private var pending: Set<AppID> = []

  /// The value of `apns-marketing` in the answer to a sender.
  static let unsubscribed = "unsubscribed"

  init(registrations: any Registrations) { self.registrations = registrations }

  /// True if no app has sent marketing: no accepted push needs a look at the preferences.
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
