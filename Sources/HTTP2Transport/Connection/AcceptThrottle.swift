import Glibc
package import NIOCore
package import PushCore

/// Lets a listener accept only while the process has descriptors left beyond a reserve, and looks again a little later.
///
/// Without any the system's own libraries give up: libdispatch looks after its threads in `/proc`, and ends the process
/// when it can't open a file there. An accept that fails is tried again at once, besides, which keeps a core busy.
package final class AcceptThrottle: ChannelOutboundHandler {
  package typealias OutboundIn = Never

  /// How soon the gate looks again.
  private static let pause: TimeAmount = .milliseconds(100)

  private let reserve: Int
  private let isShort: (Int) -> Bool
  private let limits: LimitCounters
  private let closed: () -> Void
  private var isWaiting = false

  /// - Parameters:
  ///   - reserve: descriptors that are left to others.
  ///   - limits: count how often accepting pauses.
  ///   - isShort: whether fewer than so many are left.
  ///   - closed: is called each time that the gate sees that there are too few.
  package init(
    reserve: Int, limits: LimitCounters = LimitCounters(),
    isShort: @escaping (Int) -> Bool = { AcceptThrottle.isShort(of: $0) }, closed: @escaping () -> Void = {}
  ) {
    self.reserve = reserve
    self.limits = limits
    self.isShort = isShort
    self.closed = closed
  }

  package func read(context: ChannelHandlerContext) {
    guard !isWaiting else { return }
    guard !isShort(reserve) else {
      isWaiting = true
      limits.add(.descriptors)
      closed()
      let this = NIOLoopBound((self, context), eventLoop: context.eventLoop)
      context.eventLoop.scheduleTask(in: AcceptThrottle.pause) {
        let (gate, context) = this.value
        gate.isWaiting = false
        if context.channel.isActive { gate.read(context: context) }
      }
      return
    }
    context.read()
  }

  /// Whether fewer descriptors than this are left above the lowest that is free, which the system gives out next. So it
  /// is asked before each single accept: that fills a hole below, or takes the one that is known to be there.
  package static func isShort(of count: Int) -> Bool {
    var limit = rlimit()
    guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return false }
    let probe = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0)
    // Whoever closed standard error has another failure than this.
    guard probe >= 0 else { return errno == EMFILE || errno == ENFILE }
    Glibc.close(probe)
    return isShort(of: count, lowestFree: probe, limit: limit.rlim_cur)
  }

  /// Whether fewer descriptors than `count` are left above the lowest free one, in a process that may have `limit`.
  static func isShort(of count: Int, lowestFree: Int32, limit: UInt) -> Bool {
    UInt64(lowestFree) + UInt64(count) >= UInt64(limit)
  }
}
