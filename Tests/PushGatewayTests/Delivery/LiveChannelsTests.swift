import NIOCore
import NIOPosix
import PushTesting
import Synchronization
import Testing

@testable import PushCore
@testable import PushGateway
@testable import PushStorage

@Suite(.timeLimit(.minutes(5))) struct LiveChannelsTests {
  /// A receiver that records the numbers of its messages.
  private final class Receiver: BroadcastReceiver, Sendable {
    let numbers = Mutex<[UInt64]>([])
    func deliver(_ message: BroadcastMessage) { numbers.withLock { $0.append(message.number) } }
    func pack() {}
    func flush() {}
  }

  private static func message(_ channel: ChannelID, _ number: UInt64) -> BroadcastMessage {
    BroadcastMessage(
      channel: channel, app: AppID(row: 1), number: number, id: .number(1), uniqueID: .number(2), received: 0,
      expires: 0, priority: 10, payload: [])
  }

  /// Attaches receivers to a channel, on the loops of a group in turn.
  private static func join(
    _ live: LiveChannels, _ channel: ChannelID, _ receivers: [Receiver], _ group: MultiThreadedEventLoopGroup
  ) async throws {
    let loops = Array(group.makeIterator())
    for (index, loop) in loops.enumerated() {
      try await loop.submit {
        for position in stride(from: index, to: receivers.count, by: loops.count) {
          live.join(channel, UInt64(position), receivers[position], loop: loop)
        }
      }.get()
    }
  }

  @Test func `the newest broadcasts are remembered, and no more of them`() {
    let live = LiveChannels { _, _ in }
    let channel = ChannelID.random()
    let last = Limits.recentBroadcasts + 1
    for number in 1...last {
      live.publish(
        BroadcastMessage(
          channel: channel, app: AppID(row: 1), number: UInt64(number), id: .number(number), uniqueID: .number(number),
          received: 0, expires: 0, priority: 10, payload: []))
    }
    #expect((1...last).filter { live.recent(.number($0)) != nil } == Array(2...last))
  }

  @Test func `a hundred thousand receivers get every message once, in order`() async throws {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 2)
    let (stream, ended) = AsyncStream.makeStream(of: Int.self)
    let live = LiveChannels { _, count in ended.yield(count) }
    let channel = ChannelID.random()
    let receivers = (0..<100_000).map { _ in Receiver() }
    try await LiveChannelsTests.join(live, channel, receivers, group)
    #expect(live.count(of: channel) == 100_000)
    for number in 1...3 { live.publish(LiveChannelsTests.message(channel, UInt64(number))) }
    var ends = stream.makeAsyncIterator()
    for _ in 1...3 { #expect(await ends.next() == 100_000) }
    #expect(receivers.allSatisfy { $0.numbers.withLock { $0 } == [1, 2, 3] })
    try await group.shutdownGracefully()
  }

  /// A handler that records that a byte has arrived.
  private final class Arrival: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer
    let hasCome = Atomic<Bool>(false)
    func channelRead(context: ChannelHandlerContext, data: NIOAny) { hasCome.store(true, ordering: .relaxed) }
  }

  /// The state of a sequence of messages that each cause the next one.
  private final class Chain: Sendable {
    let live = Mutex<LiveChannels?>(nil)
    let published = Atomic<Int>(0)
  }

  @Test func `a loop serves its sockets while broadcasts go out one after another`() async throws {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let arrival = Arrival()
    let server = try await ServerBootstrap(group: group)
      .childChannelInitializer { channel in channel.pipeline.addHandler(arrival) }
      .bind(host: "127.0.0.1", port: 0).get()
    let client = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .connect(to: try #require(server.localAddress)).get()
    let chain = Chain()
    let (stream, ended) = AsyncStream.makeStream(of: Int.self)
    let channel = ChannelID.random()
    // Each message publishes the next one at once, until the byte has arrived. A loop that only ran its tasks would
    // never read the byte.
    let endless = LiveChannels { message, _ in
      let count = chain.published.add(1, ordering: .relaxed).newValue
      if arrival.hasCome.load(ordering: .relaxed) || count == 100_000 {
        _ = ended.yield(count)
        return
      }
      chain.live.withLock { $0 }?.publish(message)
    }
    chain.live.withLock { $0 = endless }
    let receivers = (0..<(Limits.broadcastSlice * 4)).map { _ in Receiver() }
    try await LiveChannelsTests.join(endless, channel, receivers, group)
    endless.publish(LiveChannelsTests.message(channel, 1))
    try await client.writeAndFlush(ByteBuffer(string: "x"))
    var ends = stream.makeAsyncIterator()
    #expect(try #require(await ends.next()) < 100_000)
    try await client.close()
    chain.live.withLock { $0 = nil }
    try await group.shutdownGracefully()
  }

  @Test func `a message goes to nobody else, and to nobody who left`() async throws {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let (stream, ended) = AsyncStream.makeStream(of: Int.self)
    let live = LiveChannels { _, count in ended.yield(count) }
    let (mine, other) = (ChannelID.random(), ChannelID.random())
    let receivers = (0..<3).map { _ in Receiver() }
    try await LiveChannelsTests.join(live, mine, receivers, group)
    try await LiveChannelsTests.join(live, other, [Receiver()], group)
    live.leave(mine, 1, loop: group.next())
    live.publish(LiveChannelsTests.message(mine, 1))
    var ends = stream.makeAsyncIterator()
    #expect(await ends.next() == 2)
    #expect(receivers.map { $0.numbers.withLock(\.count) } == [1, 0, 1])
    live.publish(LiveChannelsTests.message(.random(), 1))
    #expect(await ends.next() == 0)
    try await group.shutdownGracefully()
  }
}
