import PushCore

/// The bodies of services that report alerts: Alertmanager, Grafana and healthchecks.io.
enum AlertHooks {
  // MARK: Alertmanager and Grafana

  /// Reads a group of alerts of Alertmanager (version 4), or of Grafana, which adds some members to the same body.
  ///
  /// A group is one subject. It is resolved when none of its alerts fires.
  static func group(_ root: JSONValue) throws(MessageRefusal) -> HookReading {
    guard let alerts = root["alerts"]?.values, let status = root["status"]?.text, let key = root["groupKey"]?.text,
      !alerts.isEmpty
    else { throw .badMessage("the body is not a group of alerts: expected the members alerts, status and groupKey") }
    let firing = alerts.filter { $0["status"]?.text != "resolved" }
    guard status != "resolved", let first = firing.first else {
      return .message(HookMessage(subject: key, isResolved: true, [:]))
    }
    let name =
      text(root["commonLabels"], "alertname") ?? text(root["groupLabels"], "alertname")
      ?? text(first["labels"], "alertname") ?? root["receiver"]?.text ?? "Alert"
    let truncated = max(0, root["truncatedAlerts"]?.whole ?? 0)
    let count = firing.count + min(truncated, 1_000_000)
    let level = firing.map { AlertLevel(text($0["labels"], "severity")) }.max() ?? .usual
    let link = ["panelURL", "dashboardURL", "generatorURL"].lazy.compactMap { text(first, $0) }.first
    return .message(
      HookMessage(
        subject: key,
        [
          .title: text(root, "title") ?? (count == 1 ? name : "\(name) (\(count))"),
          .body: lines(of: firing, further: count - firing.count), .link: link ?? text(root, "externalURL"),
          .level: level.name, .sound: level == .quiet ? nil : "default", .thread: name,
        ]))
  }

  /// Returns a line for each alert, without repeated lines.
  private static func lines(of alerts: [JSONValue], further: Int) -> String {
    var (lines, seen): ([String], Set<String>) = ([], [])
    var left = further
    for alert in alerts {
      let line = words(of: alert)
      guard !line.isEmpty, seen.insert(line).inserted else { continue }
      if lines.count < Limits.maximumHookLines { lines.append(line) } else { left += 1 }
    }
    if left > 0 { lines.append("and \(left) more") }
    return lines.joined(separator: "\n")
  }

  private static func words(of alert: JSONValue) -> String {
    let notes = alert["annotations"]
    if let words = text(notes, "summary") ?? text(notes, "description") ?? text(notes, "message") { return words }
    guard case .object(let labels)? = alert["labels"] else { return "" }
    return labels.sorted { $0.key < $1.key }.filter { $0.key != "alertname" }
      .compactMap { name, value in value.text.map { "\(name)=\($0)" } }.joined(separator: ", ")
  }

  /// The urgency of an alert, by its label `severity`.
  private enum AlertLevel: Int, Comparable {
    case quiet, usual, urgent

    init(_ severity: String?) {
      switch severity?.lowercased() {
      case "critical", "page", "emergency", "disaster", "high": self = .urgent
      case "info", "informational", "none", "debug", "low": self = .quiet
      default: self = .usual
      }
    }

    /// The `aps.interruption-level`; nil for the usual one.
    var name: String? {
      switch self {
      case .quiet: "passive"
      case .usual: nil
      case .urgent: "time-sensitive"
      }
    }

    static func < (one: AlertLevel, other: AlertLevel) -> Bool { one.rawValue < other.rawValue }
  }

  // MARK: healthchecks.io

  /// Reads a check of healthchecks.io (`$JSON`). A check is a subject, which is resolved when the check is up.
  static func check(_ root: JSONValue) throws(MessageRefusal) -> HookReading {
    guard let status = text(root, "status"),
      let subject = text(root, "uuid") ?? text(root, "unique_key") ?? text(root, "slug") ?? text(root, "name")
    else { throw .badMessage("the body is not a check: enter $JSON as the request body, which has name and status") }
    switch status {
    case "up": return .message(HookMessage(subject: subject, isResolved: true, [:]))
    case "down":
      let name = text(root, "name") ?? subject
      let last = text(root, "last_ping").map { "The last ping came at \($0)." } ?? "No ping came."
      let body = [text(root, "desc"), last].compactMap { $0 }.joined(separator: "\n")
      return .message(
        HookMessage(
          subject: subject, [.title: "\(name) is down", .body: body, .sound: "default", .thread: subject]))
    default: return .ignored("status \(status.prefix(32))")
    }
  }

  /// Returns the text of a member; nil if it is absent or empty.
  private static func text(_ value: JSONValue?, _ name: String) -> String? {
    guard let text = value?[name]?.text, !text.isEmpty else { return nil }
    return text
  }
}
