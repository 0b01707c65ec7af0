/// The alerts that one app has shown on one device within an hour, by which its budget is counted (A8).
package struct AlertHistory<ID: Hashable & Sendable>: Sendable {
  /// The time that a budget is for, in seconds.
  package static var span: Int64 { 3600 }

  /// In the order in which they were shown.
  private var shown: [(at: Int64, id: ID)] = []

  package init() {}

  package var isEmpty: Bool { shown.isEmpty }

  /// Whether none counts any longer at `now`, in seconds since 1970.
  package func isOver(at now: Int64) -> Bool { shown.last.map { $0.at <= now - Self.span } ?? true }

  /// Alerts within the hour before `now`, in seconds since 1970, without the push `id` itself: asking twice about a push
  /// gets the same answer.
  package mutating func count(at now: Int64, without id: ID) -> Int {
    if let first = shown.first, first.at <= now - Self.span { shown.removeAll { $0.at <= now - Self.span } }
    return shown.firstIndex { $0.id == id } ?? shown.count
  }

  /// The alerts within the hour before `now`, in seconds since 1970.
  package func recent(at now: Int64) -> [(at: Int64, id: ID)] { shown.filter { $0.at > now - Self.span } }

  /// An alert was shown; one that was shown elsewhere may be told late.
  package mutating func note(_ id: ID, at now: Int64) {
    guard !shown.contains(where: { $0.id == id }) else { return }
    let place = shown.lastIndex { $0.at <= now }.map { $0 + 1 } ?? 0
    shown.insert((now, id), at: place)
  }
}
