import Foundation
import GatewayProtocol
import PushPolicy

/// A time at which a snoozed alert is shown again.
enum Snooze: String, CaseIterable {
  case tenMinutes, hour, tomorrow

  var title: String {
    switch self {
    case .tenMinutes: "10 Minutes"
    case .hour: "1 Hour"
    case .tomorrow: "Tomorrow 8:00"
    }
  }

  /// Returns the time in seconds since 1970. It is a whole minute, because a screen looks for due alerts every minute.
  func end(from now: Date, in zone: TimeZone) -> Int {
    let time: Date
    switch self {
    case .tenMinutes: time = now + 600
    case .hour: time = now + 3_600
    case .tomorrow:
      var calendar = Calendar(identifier: .gregorian)
      calendar.timeZone = zone
      let day = calendar.date(byAdding: .day, value: 1, to: now) ?? now + 86_400
      time = calendar.date(bySettingHour: 8, minute: 0, second: 0, of: day) ?? day
    }
    let seconds = Int(time.timeIntervalSince1970)
    return seconds - seconds % 60
  }
}

extension PhoneModel {
  /// Opens a sheet with the times at which the alerts on screen, or the selected entry, are shown again.
  mutating func askHowLong() {
    let choices = Snooze.allCases.map { AlertAction(id: $0.rawValue, title: $0.title) }
    if isAlertShown {
      sheet = ActionSheet(.snoozeAlerts(settledAlerts.map(\.ordinal)), choices)
    } else if let entry = selectedEntry, entry.isAlert {
      sheet = ActionSheet(.snoozeEntry(entry.ordinal), choices)
    }
  }

  mutating func snooze(_ ordinals: [Int], _ snooze: Snooze?) {
    guard let snooze else { return }
    let end = snooze.end(from: now, in: timeZone)
    forgetFocus()
    for ordinal in ordinals { record(.snoozed(ordinal: ordinal, until: end)) }
    let time = ClockText(timeZone: timeZone).moment(Date(timeIntervalSince1970: Double(end)), now: now)
    notice = "Shown again at \(time)"
  }

  /// Queues the snoozed alerts whose time has come.
  mutating func wake() -> [PhoneEffect] {
    let time = Int(now.timeIntervalSince1970)
    var effects: [PhoneEffect] = []
    for one in state.snoozed where one.until <= time {
      let shown = alerts.first?.ordinal
      record(.woken(ordinal: one.alert.ordinal))
      if alerts.first?.ordinal != shown { forgetFocus() }
      effects += (sound(of: one.alert.push).map { [$0] } ?? []) + notices(of: one.alert.alert, one.alert.push)
    }
    return effects
  }
}
