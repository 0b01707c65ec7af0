import Foundation
import PushPolicy

/// The simulated phone as one value: what it shows, and what it must not forget.
///
/// Encoding keeps what L2 asks for: apps with badges and recent pushes, waiting alerts, the screen, the silent switch,
/// the cursor. The rest is of the moment and starts anew.
struct PhoneModel: Sendable, Equatable, Codable {
  /// How many alerts wait at most. Beyond that the oldest one that is not on screen becomes unread in its app.
  static let maximumAlerts = 200

  /// The name of this device.
  var device: String
  /// In the order of the home screen.
  private(set) var apps: [InstalledApp] = []
  /// Oldest first; the first one is on screen.
  private(set) var alerts: [QueuedAlert] = []
  /// The ring/silent switch (S4).
  var isSilent = false
  /// The highest `seq` received; everything up to it is known.
  var lastSeq: UInt64 = 0
  /// Pushes that the gateway dropped, until the person has taken note.
  var droppedCount = 0
  var screen = Screen.home
  /// The topic of the app that is selected on the home screen; `nil` selects the first.
  var selectedTopic: String?

  var connection = PhoneConnection.connecting
  /// The time of the last message.
  var now = Date(timeIntervalSince1970: 0)
  var size = Size(columns: 80, rows: 24)
  /// Which button of the alert on screen Return presses; `nil` is the one on the right.
  var focusedButton: Int?
  /// For all times on screen.
  var timeZone = TimeZone.current

  /// What the person looks at, beneath any alert.
  enum Screen: Sendable, Equatable, Codable {
    case home
    /// The pushes of the app with this topic; `selectedID` is the chosen one, `nil` the newest.
    case app(topic: String, selectedID: String?)
  }

  private enum CodingKeys: String, CodingKey {
    case device, apps, alerts, isSilent, lastSeq, droppedCount, screen, selectedTopic
  }

  init(device: String) {
    self.device = device
  }

  /// Whether an alert is in front of the person's eyes.
  var isAlertShown: Bool { !alerts.isEmpty && size.holdsPhone }

  /// The place of the selected app on the home screen.
  var selectedIndex: Int { apps.firstIndex { $0.app.topic == selectedTopic } ?? 0 }

  /// The app with `topic`.
  func app(_ topic: String) -> InstalledApp? { apps.first { $0.app.topic == topic } }
}

/// An app on the home screen.
struct InstalledApp: Sendable, Equatable, Codable {
  /// How many pushes an app remembers.
  static let maximumRecent = 20

  var app: PhoneApp
  /// The count on the icon; 0 shows none (B2).
  var badge = 0
  /// Alerts that came too fast to wait their turn, until the app is opened.
  var unreadCount = 0
  /// The latest pushes, newest first.
  var recent: [PhonePush] = []
}

/// An alert that waits for the person or is on screen.
struct QueuedAlert: Sendable, Equatable, Codable {
  var id: String
  var app: PhoneApp
  var received: Date
  var alert: AlertPresentation
  /// Whether it was on screen and the gateway knows.
  var isPresented = false

  /// The titles of its one or two buttons (A6: never a third).
  var buttons: [String] {
    alert.buttons.isEmpty ? ["OK"] : Array(alert.buttons.prefix(2))
  }
}

extension PhoneModel {
  /// Replaces the registered apps; what is known of those that stay is kept.
  mutating func install(_ registered: [PhoneApp]) {
    apps = registered.map { app in
      var installed = self.app(app.topic) ?? InstalledApp(app: app)
      installed.app = app
      return installed
    }
    if case .app(let topic, _) = screen, app(topic) == nil { screen = .home }
  }

  /// Changes the app with this topic, installing it first if it is new.
  mutating func change(_ app: PhoneApp, _ change: (inout InstalledApp) -> Void) {
    let index = apps.firstIndex { $0.app.topic == app.topic } ?? apps.endIndex
    if index == apps.endIndex { apps.append(InstalledApp(app: app)) }
    change(&apps[index])
  }

  /// Puts an alert at the end of the queue.
  mutating func enqueue(_ alert: QueuedAlert) {
    alerts.append(alert)
    guard alerts.count > Self.maximumAlerts else { return }
    // The one on screen goes only when the person picks a button (A1).
    let overflow = alerts.remove(at: 1)
    change(overflow.app) { $0.unreadCount += 1 }
  }

  /// Takes the alert on screen away and returns it.
  mutating func dismissAlert() -> QueuedAlert {
    focusedButton = nil
    return alerts.removeFirst()
  }

  /// Removes the alert of the push with `id` and returns whether there was one.
  mutating func removeAlert(id: String) -> Bool {
    guard let index = alerts.firstIndex(where: { $0.id == id }) else { return false }
    if index == 0 { focusedButton = nil }
    alerts.remove(at: index)
    return true
  }

  /// Notes that the alert on screen is seen, and returns the push's id when that is new.
  mutating func markAlertPresented() -> String? {
    guard isAlertShown, !alerts[0].isPresented else { return nil }
    alerts[0].isPresented = true
    return alerts[0].id
  }
}
