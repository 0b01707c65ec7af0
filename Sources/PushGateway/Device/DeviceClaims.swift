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
/// A device that has invented ``Limits/maximumStrangeClaims`` of them is not looked up for any longer, since each costs a
/// search of the delivery log. Belongs to the loop of the stream.
final class DeviceClaims {
  private let loop: any EventLoop
  private let find: @Sendable (APNSID) async -> SentPush?
  private let accept: (DeviceClaim, SentPush) -> Void
  private let refuse: (DeviceClaim) -> Void
  private var waiting = Deque<DeviceClaim>()
  private var strange = 0

  /// - Parameters:
  ///   - find: finds a push that the device was sent.
  ///   - accept: called on the loop with each claim that holds.
  ///   - refuse: called on the loop with each that does not.
  init(
    loop: any EventLoop, find: @escaping @Sendable (APNSID) async -> SentPush?,
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
    waiting.append(claim)
    if waiting.count == 1 { verifyNext() }
  }

  private func verifyNext() {
    guard let claim = waiting.first else { return }
    let this = NIOLoopBound(self, eventLoop: loop)
    let find = find
    Task {
      let push = await find(claim.id)
      this.eventLoop.execute { this.value.verified(push) }
    }
  }

  private func verified(_ push: SentPush?) {
    guard let claim = waiting.popFirst() else { return }
    if let push {
      accept(claim, push)
    } else {
      strange += 1
      refuse(claim)
    }
    if strange >= Limits.maximumStrangeClaims { waiting.removeAll() }
    verifyNext()
  }
}
