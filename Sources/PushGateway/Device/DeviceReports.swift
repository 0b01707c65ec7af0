import DequeModule
import NIOCore
import PushCore

/// What a device says of a push.
struct DeviceClaim: Sendable {
  enum Kind: Sendable {
    /// It has shown and played these parts.
    case presented([String])
    /// The person has picked an action.
    case answered(String)
  }

  var id: APNSID
  var kind: Kind
  /// When it was said, in milliseconds since 1970.
  var at: Int64
}

/// Claims of one stream about pushes that its gateway does not remember: looked up one after another, in their order.
///
/// A claim is looked up again for ``Limits/claimTime`` where nobody can say whether it holds, since a gateway that may have sent the
/// push is away. Then it is dropped: a device that gets no answer repeats it when it connects again.
///
/// A device that has invented ``Limits/maximumStrangeClaims`` of them is not looked up for any longer, since each costs a
/// search of the delivery log. Belongs to the loop of the stream.
final class DeviceReports {
  private let loop: any EventLoop
  private let find: @Sendable (APNSID) async throws -> SentPush?
  private let accept: (DeviceClaim, SentPush) -> Void
  private let refuse: (DeviceClaim) -> Void
  /// Claims, and until when each is looked up again.
  private var waiting = Deque<(claim: DeviceClaim, end: NIODeadline)>()
  private var strange = 0
  /// Whether a claim is looked up, or is to be in a moment.
  private var isBusy = false
  /// Whether the stream has ended: each claim is looked up once.
  private var isLast = false

  private static let pause = TimeAmount.seconds(2)

  /// - Parameters:
  ///   - find: finds a push that the device was sent; throws where that is not known now.
  ///   - accept: called on the loop with each claim that holds.
  ///   - refuse: called on the loop with each that does not.
  init(
    loop: any EventLoop, find: @escaping @Sendable (APNSID) async throws -> SentPush?,
    accept: @escaping (DeviceClaim, SentPush) -> Void, refuse: @escaping (DeviceClaim) -> Void
  ) {
    (self.loop, self.find, self.accept, self.refuse) = (loop, find, accept, refuse)
  }

  /// Whether nothing is being looked up.
  var isEmpty: Bool { waiting.isEmpty }

  /// Takes a claim, which is passed over where too many wait.
  func add(_ claim: DeviceClaim) {
    assert(loop.inEventLoop)
    guard strange < Limits.maximumStrangeClaims, waiting.count < Limits.maximumUnverifiedClaims else { return }
    waiting.append((claim, loop.now + .seconds(Limits.claimTime)))
    if !isBusy { verifyNext() }
  }

  /// Looks up no claim twice from now on: the stream has ended, and nothing of it may go on for long.
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
