import NIOCore
import NIOEmbedded
import Testing

@testable import HTTP2Transport

@Suite struct AcceptThrottleTests {
  /// Counts the accepts that pass the throttle.
  private final class Accepts: ChannelOutboundHandler {
    typealias OutboundIn = Never
    var count = 0
    func read(context: ChannelHandlerContext) { count += 1 }
  }

  private final class Descriptors {
    /// The number of free descriptors.
    var left = 64
    var asked: [Int] = []
  }

  private func gate(_ descriptors: Descriptors) throws -> (channel: EmbeddedChannel, accepts: Accepts) {
    let accepts = Accepts()
    let gate = AcceptThrottle(reserve: 64) { count in
      descriptors.asked.append(count)
      return descriptors.left < count
    }
    let channel = EmbeddedChannel(handlers: [accepts, gate])
    try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    accepts.count = 0
    descriptors.asked = []
    return (channel, accepts)
  }

  @Test func `each accept is asked for, and goes through while the reserve is there`() throws {
    let descriptors = Descriptors()
    let (channel, accepts) = try gate(descriptors)
    for _ in 0..<3 { channel.read() }
    #expect(accepts.count == 3)
    #expect(descriptors.asked == [64, 64, 64])
  }

  @Test func `without the reserve nothing is accepted, and the gate looks again until there is one`() throws {
    let descriptors = Descriptors()
    let (channel, accepts) = try gate(descriptors)
    descriptors.left = 63
    channel.read()
    channel.read()
    // One query for both accepts.
    #expect(accepts.count == 0 && descriptors.asked == [64])
    channel.embeddedEventLoop.advanceTime(by: .milliseconds(99))
    #expect(descriptors.asked == [64])
    channel.embeddedEventLoop.advanceTime(by: .milliseconds(1))
    #expect(accepts.count == 0 && descriptors.asked == [64, 64])
    descriptors.left = 64
    channel.embeddedEventLoop.advanceTime(by: .milliseconds(100))
    #expect(accepts.count == 1)
    channel.embeddedEventLoop.advanceTime(by: .seconds(10))
    #expect(accepts.count == 1 && descriptors.asked.count == 3)
  }

  @Test func `a listener that closes meanwhile accepts nothing`() throws {
    let descriptors = Descriptors()
    let (channel, accepts) = try gate(descriptors)
    descriptors.left = 0
    channel.read()
    try channel.close().wait()
    descriptors.left = 64
    channel.embeddedEventLoop.advanceTime(by: .seconds(1))
    #expect(accepts.count == 0)
  }

  @Test(
    arguments: [
      (64, 191, 256, false), (64, 192, 256, true), (64, 193, 256, true), (1, 254, 256, false), (1, 255, 256, true),
      (1, 256, 256, true),
    ] as [(Int, Int32, UInt, Bool)])
  func `so many are left between the lowest free descriptor and the limit`(
    _ count: Int, _ lowestFree: Int32, _ limit: UInt, _ isShort: Bool
  ) {
    #expect(AcceptThrottle.isShort(of: count, lowestFree: lowestFree, limit: limit) == isShort)
  }

  @Test func `it is known whether so many descriptors are left`() {
    #expect(!AcceptThrottle.isShort(of: 1))
    #expect(AcceptThrottle.isShort(of: 1 << 40))
  }

  @Test func `each look that finds too few is told`() throws {
    var (isShort, closedCount) = (true, 0)
    let gate = AcceptThrottle(reserve: 64, isShort: { _ in isShort }, closed: { closedCount += 1 })
    let channel = EmbeddedChannel(handlers: [Accepts(), gate])
    try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    channel.read()
    let first = closedCount
    channel.embeddedEventLoop.advanceTime(by: .milliseconds(100))
    #expect(closedCount == first + 1)
    isShort = false
    channel.embeddedEventLoop.advanceTime(by: .milliseconds(100))
    channel.read()
    #expect(closedCount == first + 1)
  }
}
