import PushCore

/// The counters of pushes that are forwarded to the upstream, of all event loops.
final class UpstreamMeter: Sendable {
  /// The statuses with a counter of their own; all other statuses share one.
  static let statuses = [200, 400, 403, 404, 405, 410, 413, 429, 500, 503]
  /// The values of the label `status`: the statuses; `other`; and `none` for a push without an answer of the upstream.
  static let labels = statuses.map(String.init) + ["other", "none"]

  /// The number of pushes that were sent to the upstream, or queued for it, and the number of ended pushes.
  let begun = Counter()
  let ended = Counter()
  /// The numbers of connections that were opened, and of attempts that failed.
  let opened = Counter()
  let failed = Counter()
  /// The time from the call of ``Forwarder/send(_:)`` until the answer of the upstream.
  let times = MetricHistogram.times([
    .milliseconds(5), .milliseconds(10), .milliseconds(25), .milliseconds(50), .milliseconds(100), .milliseconds(250),
    .milliseconds(500), .seconds(1), .milliseconds(2500), .seconds(5), .seconds(10), .seconds(20),
  ])
  private let answers = Counters(count: UpstreamMeter.labels.count)

  /// The numbers of pushes, in the order of ``labels``.
  var totals: [UInt64] { answers.totals }

  /// The number of pushes without an answer yet.
  var current: UInt64 {
    // Each ended push has begun before: read in this order, the difference is at least 0.
    let ended = ended.total
    return begun.total &- ended
  }

  /// Counts the answer of the upstream with a status; nil: none.
  func count(status: Int?) {
    let others = UpstreamMeter.statuses.count
    guard let status else { return answers.add(at: others + 1) }
    answers.add(at: UpstreamMeter.statuses.firstIndex(of: status) ?? others)
  }
}
