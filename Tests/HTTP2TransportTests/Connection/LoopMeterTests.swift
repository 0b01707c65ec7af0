import NIOCore
import NIOEmbedded
import Testing

@testable import HTTP2Transport
@testable import PushCore

/// What a loop counts of itself, without a socket.
@Suite struct LoopMeterTests {
  let loop = EmbeddedEventLoop()
  let context: LoopContext

  init() { context = LoopContext(eventLoop: loop) }

  func count(_ histogram: MetricHistogram) -> UInt64 { histogram.snapshot.counts.reduce(0, +) }

  @Test func `a turn is counted once, however much there is to do, and none while nothing is`() {
    loop.advanceTime(by: .hours(1))
    #expect(count(context.meter.turns) == 0)
    context.scheduleTurnEnd()
    context.scheduleTurnEnd()
    loop.run()
    #expect(count(context.meter.turns) == 1)
    context.scheduleTurnEnd()
    loop.run()
    #expect(count(context.meter.turns) == 2)
  }

  @Test func `what is done again and again is measured each time, without more turns`() {
    var calls = 0
    context.every(.seconds(15)) { _ in calls += 1 }
    loop.advanceTime(by: .seconds(14))
    #expect(calls == 0)
    loop.advanceTime(by: .seconds(46))
    #expect(calls == 4)
    #expect(count(context.meter.lag) == 4)
    #expect(count(context.meter.turns) == 0)
  }

  @Test func `lag is the time that something waited for the loop`() {
    loop.advanceTime(by: .seconds(1))
    context.noteLag(since: loop.now - .milliseconds(30))
    // A clock that was read on another thread may be ahead.
    context.noteLag(since: loop.now + .milliseconds(30))
    let snapshot = context.meter.lag.snapshot
    #expect(snapshot.sum == 0.03)
    #expect(snapshot.counts.first == 1)
    #expect(snapshot.bounds.firstIndex(of: 0.05).map { snapshot.counts[$0] } == 1)
  }

  @Test func `open connections are counted by what their peers have shown to be`() {
    let meter = context.meter
    meter.open(.remote, .stranger)
    meter.open(.remote, .stranger)
    meter.open(.adminSocket, .admin)
    meter.change(.stranger, to: .device)
    // Strangers, providers, devices, administrators.
    #expect(meter.peers == [1, 0, 1, 1])
    meter.close(.remote, .device)
    #expect(meter.peers == [1, 0, 0, 1])
    #expect(meter.connections.opened == [1, 0, 2] && meter.connections.closed == [0, 0, 1])
  }

  @Test func `streams are counted while they are in use`() {
    let first = context.streams.take(id: 1)
    let second = context.streams.take(id: 3)
    #expect(context.meter.streams.value == 2)
    context.streams.give(first)
    #expect(context.meter.streams.value == 1)
    context.streams.give(second)
    #expect(context.meter.streams.value == 0)
  }

  @Test func `a listener that has no descriptors left says so`() throws {
    let limits = LimitCounters()
    let channel = EmbeddedChannel(handler: AcceptGate(reserve: 64, limits: limits) { _ in true }, loop: loop)
    try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    channel.read()
    channel.read()
    #expect(limits.totals[ReachedLimit.descriptors.rawValue] == 1)
    loop.advanceTime(by: .milliseconds(100))
    #expect(limits.totals[ReachedLimit.descriptors.rawValue] == 2)
  }
}
