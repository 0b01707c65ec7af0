/// The recipients' use of an app's alerts within ``Bound/days``: the facts behind rule N11.
package struct Standing: Sendable, Equatable {
  /// The alerts that devices reported as shown.
  package var presented = 0
  /// The alerts that users opened.
  package var viewed = 0
  /// The alerts that users closed without opening them.
  package var closed = 0
  /// The number of times that users turned the app's marketing off.
  package var unsubscribed = 0
  /// The pushes that users reported as advertising, once for each device.
  package var reported = 0
  /// The number of users with a report.
  package var reporters = 0

  package init() {}

  /// Adds the use of alerts of another period, without its reports. The sums wrap; no number of alerts is that large.
  package mutating func addUse(_ other: Standing) {
    presented &+= other.presented
    viewed &+= other.viewed
    closed &+= other.closed
    unsubscribed &+= other.unsubscribed
  }

  /// The thresholds of rule N11.
  package enum Bound {
    /// The days in which alerts and reports count, and the days for which the app's alerts go to the summary.
    package static let days: Int64 = 28
    /// The reports in a thousand alerts from which the rule applies: 0.3 %.
    package static let reportsInThousand = 3
    /// The minimum number of alerts for the rule, because the share of a small number is inexact.
    package static let alerts = 100
    /// The number of users who must have reported an alert, so that one user does not silence an app.
    package static let reporters = 3
  }

  /// Returns the measure that begins at `now`, in seconds since 1970, if these facts require one; nil if they do not.
  ///
  /// - Parameter measure: the latest measure or exemption of the app.
  package func measure(after measure: SummaryMeasure, at now: Int64) -> SummaryMeasure? {
    guard now >= measure.countedFrom, presented >= Bound.alerts, reporters >= Bound.reporters else { return nil }
    let (reports, isLarge) = reported.multipliedReportingOverflow(by: 1_000)
    let (bound, isLarger) = presented.multipliedReportingOverflow(by: Bound.reportsInThousand)
    guard !isLarger, isLarge || reports >= bound else { return nil }
    return SummaryMeasure(summaryFrom: now, countedFrom: now + Bound.days * 86_400)
  }

  /// Returns the start of the facts that count at `now`, both in seconds since 1970.
  package static func start(at now: Int64) -> Int64 { max(0, now - Bound.days * 86_400) }
}

/// The period in which an app's alerts go to the summary of each recipient (N11), or the exemption after an appeal.
package struct SummaryMeasure: Sendable, Equatable, Codable {
  /// The time from which alerts go to the summary, in seconds since 1970; nil: they do not.
  package var summaryFrom: Int64?
  /// The end of the period, in seconds since 1970: only later facts count for the next one. Until then the sender can
  /// appeal.
  package var countedFrom: Int64

  /// The value of an app for which the rule has never applied.
  package static let never = SummaryMeasure(summaryFrom: nil, countedFrom: 0)

  package init(summaryFrom: Int64?, countedFrom: Int64) {
    (self.summaryFrom, self.countedFrom) = (summaryFrom, countedFrom)
  }

  enum CodingKeys: String, CodingKey {
    case summaryFrom = "summary_from"
    case countedFrom = "counted_from"
  }

  /// Returns true if alerts go to the summary at `now`, in seconds since 1970.
  @inline(__always) package func isActive(at now: Int64) -> Bool {
    summaryFrom.map { $0 <= now && now < countedFrom } ?? false
  }
}
