/// The alerts that one app has shown on one device within an hour, for its budget (A8).
package struct AlertHistory<ID: Hashable & Sendable>: Sendable {
  /// The period of a budget in seconds.
  package static var span: Int64 { 3600 }

  /// The alerts in the order of their display, at most ``maximumCount``: the newest. No budget is larger.
  private var shown: [(at: Int64, id: ID)] = []

  /// The maximum number of alerts in memory. Alerts that no budget removes, such as critical ones, exceed it.
  package static var maximumCount: Int { AppPreferences.maximumBudget }

  package init() {}

  /// Returns true if no alert counts at `now`, in seconds since 1970.
  package func isOver(at now: Int64) -> Bool { shown.last.map { $0.at <= now - Self.span } ?? true }

  /// Returns the number of alerts within the hour before `now`, in seconds since 1970, that were shown before the
  /// push `id`: a second decision about the same push gets the same number.
  package mutating func count(at now: Int64, without id: ID) -> Int {
    // After the clock was set back, alerts with a later time count as shown now, so that they end within the hour.
    if let last = shown.last, last.at > now { shown = shown.map { (min($0.at, now), $0.id) } }
    if let first = shown.first, first.at <= now - Self.span { shown.removeAll { $0.at <= now - Self.span } }
    return shown.firstIndex { $0.id == id } ?? shown.count
  }

  /// Returns the alerts within the hour before `now`, in seconds since 1970.
  package func recent(at now: Int64) -> [(at: Int64, id: ID)] { shown.filter { $0.at > now - Self.span } }

  /// Adds an alert that was shown. An alert of another gateway may be reported late, so it is inserted by its time.
  package mutating func note(_ id: ID, at now: Int64) {
    guard !shown.contains(where: { $0.id == id }) else { return }
    let place = shown.lastIndex { $0.at <= now }.map { $0 + 1 } ?? 0
    shown.insert((now, id), at: place)
    if shown.count > Self.maximumCount { shown.removeFirst() }
  }
}
