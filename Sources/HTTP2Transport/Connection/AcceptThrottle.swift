import Glibc
package import NIOCore
package import PushCore

/// Accepts connections only while the process has more free descriptors than a reserve, and otherwise checks again
/// after a short pause.
///
/// Without a free descriptor, system libraries fail: libdispatch reads `/proc` to manage its threads and ends the
/// process when it can't open a file there. A failed accept would also be retried at once, which keeps a core busy.
package final class AcceptThrottle: ChannelOutboundHandler {
  package typealias OutboundIn = Never

  /// The time until the throttle checks the free descriptors again.
  private static let pause: TimeAmount = .milliseconds(100)

  private let reserve: Int
  private let isShort: (Int) -> Bool
  private let limits: LimitCounters
  private let closed: () -> Void
  private var isWaiting = false

  /// - Parameters:
  ///   - reserve: the number of descriptors to keep free for other uses.
  ///   - limits: counts the pauses of accepting.
  ///   - isShort: returns true if fewer free descriptors than its argument are left.
  ///   - closed: called each time that the throttle finds too few free descriptors.
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

  /// Returns true if fewer than `count` descriptors are left above the lowest free one, which the system assigns
  /// next.
  ///
  /// The check runs before every single accept: the accept then fills a gap below, or takes the descriptor found
  /// here.
  package static func isShort(of count: Int) -> Bool {
    var limit = rlimit()
    guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return false }
    let probe = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0)
    // A process without standard error fails with a different error.
    guard probe >= 0 else { return errno == EMFILE || errno == ENFILE }
    Glibc.close(probe)
    return isShort(of: count, lowestFree: probe, limit: limit.rlim_cur)
  }

  /// Returns true if fewer than `count` descriptors are left above `lowestFree`, in a process that may have `limit`.
  static func isShort(of count: Int, lowestFree: Int32, limit: UInt) -> Bool {
    UInt64(lowestFree) + UInt64(count) >= UInt64(limit)
  }
}
