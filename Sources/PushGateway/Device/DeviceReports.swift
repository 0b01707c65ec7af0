import DequeModule
import NIOCore
import PushCore

/// A report of a device about a push.
struct DeviceReport: Sendable {
  enum Kind: Sendable {
    /// The device has presented these parts.
    case presented([String])
    /// The user has picked an action.
    case answered(String)
  }

  var id: APNSID
  var kind: Kind
  /// The time of the report, in milliseconds since 1970.
  var at: Int64
}

/// The reports of one stream about pushes that its gateway no longer has in memory. The pushes are looked up one
/// after another, in order.
///
/// A lookup is repeated for ``Limits/reportLookupTime`` while the result is unknown, because a gateway that may have sent
/// the push is not reachable. Then the report is dropped: a device that gets no answer repeats it when it connects
/// again.
///
/// After ``Limits/maximumUnknownReports`` reports about unknown pushes, no more are looked up, since each costs a
/// search of the delivery log. Belongs to the event loop of the stream.
final class DeviceReports {
  private let loop: any EventLoop
  private let find: @Sendable (APNSID) async throws -> SentPush?
  private let accept: (DeviceReport, SentPush) -> Void
  private let refuse: (DeviceReport) -> Void
  /// The queued reports, each with the deadline for its lookups.
  private var waiting = Deque<(report: DeviceReport, end: NIODeadline)>()
  private var unknownCount = 0
  /// True while a lookup runs or is scheduled.
  private var isBusy = false
  /// True after the stream has ended: each report is looked up once.
  private var isLast = false

  private static let pause = TimeAmount.seconds(2)

  /// Creates the queue of one stream.
  ///
  /// - Parameters:
  ///   - find: finds a push that the device was sent; throws if that can't be determined now.
  ///   - accept: called on the event loop with each confirmed report.
  ///   - refuse: called on the event loop with each refuted report.
  init(
    loop: any EventLoop, find: @escaping @Sendable (APNSID) async throws -> SentPush?,
    accept: @escaping (DeviceReport, SentPush) -> Void, refuse: @escaping (DeviceReport) -> Void
  ) {
    (self.loop, self.find, self.accept, self.refuse) = (loop, find, accept, refuse)
  }

  /// True while no report is queued.
  var isEmpty: Bool { waiting.isEmpty }

  /// Queues a report; ignores it if too many are queued.
  func add(_ report: DeviceReport) {
    assert(loop.inEventLoop)
    guard unknownCount < Limits.maximumUnknownReports, waiting.count < Limits.maximumUnverifiedReports else { return }
    waiting.append((report, loop.now + .seconds(Limits.reportLookupTime)))
    if !isBusy { verifyNext() }
  }

  /// Stops repeated lookups: the stream has ended, and its work must not continue for long.
  func finish() { isLast = true }

  private func verifyNext() {
    isBusy = !waiting.isEmpty
    guard let report = waiting.first?.report else { return }
    let this = NIOLoopBound(self, eventLoop: loop)
    let find = find
    Task {
      let found: Result<SentPush?, any Error>
      do { found = .success(try await find(report.id)) } catch { found = .failure(error) }
      this.eventLoop.execute { [found] in this.value.verified(found) }
    }
  }

  private func verified(_ found: Result<SentPush?, any Error>) {
    guard let (report, end) = waiting.popFirst() else { return }
    switch found {
    case .success(let push?): accept(report, push)
    case .success(nil):
      unknownCount += 1
      refuse(report)
    case .failure:
      if !isLast, loop.now < end { waiting.append((report, end)) }
      let this = NIOLoopBound(self, eventLoop: loop)
      loop.scheduleTask(in: DeviceReports.pause) { this.value.verifyNext() }
      return
    }
    if unknownCount >= Limits.maximumUnknownReports { waiting.removeAll() }
    verifyNext()
  }
}
