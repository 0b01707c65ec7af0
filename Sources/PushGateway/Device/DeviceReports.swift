import DequeModule
import NIOCore
import PushCore

/// A report of a device about a push.
struct DeviceClaim: Sendable {
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
/// A lookup is repeated for ``Limits/claimTime`` while the result is unknown, because a gateway that may have sent
/// the push is not reachable. Then the report is dropped: a device that gets no answer repeats it when it connects
/// again.
///
/// After ``Limits/maximumStrangeClaims`` reports about unknown pushes, no more are looked up, since each costs a
/// search of the delivery log. Belongs to the event loop of the stream.
final class DeviceReports {
  private let loop: any EventLoop
  private let find: @Sendable (APNSID) async throws -> SentPush?
  private let accept: (DeviceClaim, SentPush) -> Void
  private let refuse: (DeviceClaim) -> Void
  /// The queued reports, each with the deadline for its lookups.
  private var waiting = Deque<(claim: DeviceClaim, end: NIODeadline)>()
  private var strange = 0
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
    accept: @escaping (DeviceClaim, SentPush) -> Void, refuse: @escaping (DeviceClaim) -> Void
  ) {
    (self.loop, self.find, self.accept, self.refuse) = (loop, find, accept, refuse)
  }

  /// True while no report is queued.
  var isEmpty: Bool { waiting.isEmpty }

  /// Queues a report; ignores it if too many are queued.
  func add(_ claim: DeviceClaim) {
    assert(loop.inEventLoop)
    guard strange < Limits.maximumStrangeClaims, waiting.count < Limits.maximumUnverifiedClaims else { return }
    waiting.append((claim, loop.now + .seconds(Limits.claimTime)))
    if !isBusy { verifyNext() }
  }

  /// Stops repeated lookups: the stream has ended, and its work must not continue for long.
  func finish() { isLast = true }

  private func verifyNext() {
    isBusy = !waiting.isEmpty
    guard let claim = waiting.first?.claim else { return }
    let this = NIOLoopBound(self, eventLoop: loop)
    let find = find
    Task {
      let found: Result<SentPush?, any Error>
      do { found = .success(try await find(claim.id)) } catch { found = .failure(error) }
      this.eventLoop.execute { [found] in this.value.verified(found) }
    }
  }

  private func verified(_ found: Result<SentPush?, any Error>) {
    guard let (claim, end) = waiting.popFirst() else { return }
    switch found {
    case .success(let push?): accept(claim, push)
    case .success(nil):
      strange += 1
      refuse(claim)
    case .failure:
      if !isLast, loop.now < end { waiting.append((claim, end)) }
      let this = NIOLoopBound(self, eventLoop: loop)
      loop.scheduleTask(in: DeviceReports.pause) { this.value.verifyNext() }
      return
    }
    if strange >= Limits.maximumStrangeClaims { waiting.removeAll() }
    verifyNext()
  }
}
