import NIOCore
import NIOEmbedded
import PushTesting
import Testing

@testable import HTTP2Transport
@testable import PushCore

/// A connection that sends more than its share of an event-loop iteration continues after the other connections had
/// their share.
@Suite struct IterationShareTests {
  let loop = EmbeddedEventLoop()
  let context: LoopContext
  let handler = StubHandler()

  init() { context = LoopContext(eventLoop: loop) }

  /// Returns a server connection that has received the client's preface.
  func connect(isKnown: Bool = false) throws -> EmbeddedChannel {
    let connection = try Connection(role: .server, loop: context, tls: nil, peer: .remote)
    if isKnown { connection.authenticated(as: .provider) }
    ServerSide.attach(to: connection, handler: handler)
    let channel = EmbeddedChannel(handler: connection, loop: loop)
    _ = channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1))
    try channel.writeInbound(ByteBuffer(bytes: Frame.preface))
    loop.run()
    return channel
  }

  /// Sends a frame of an unknown type. `size` includes its header.
  func send(_ size: Int, to channel: EmbeddedChannel) throws {
    let head = [UInt8(0), UInt8((size - 9) >> 8), UInt8((size - 9) & 255), 0x16, 0, 0, 0, 0, 0]
    try channel.writeInbound(ByteBuffer(bytes: head + [UInt8](repeating: 0, count: size - 9)))
  }

  /// Returns the last setting of the socket's automatic reads, or nil if it was never set.
  func reads(_ channel: EmbeddedChannel) -> Bool? {
    channel.options.last { $0.option is ChannelOptions.Types.AutoReadOption }?.value as? Bool
  }

  @Test func `what fits into a turn is read without a pause`() throws {
    let channel = try connect()
    try send(Limits.iterationShare - 1, to: channel)
    loop.run()
    #expect(reads(channel) == nil)
    try send(Limits.iterationShare, to: channel)
    #expect(reads(channel) == false)
    loop.run()
    #expect(reads(channel) == true)
  }

  @Test func `of those that send more one reads on in each turn, in their order`() throws {
    let channels = try (0..<3).map { _ in try connect() }
    for channel in channels { try send(Limits.iterationShare, to: channel) }
    #expect(channels.map(reads) == [false, false, false])
    loop.run()
    #expect(channels.map(reads) == [true, false, false])
    // The connection has more data: its share of the iteration ends, and it goes to the end of the line.
    try send(Limits.iterationShare, to: channels[0])
    loop.run()
    #expect(channels.map(reads) == [false, true, false])
    // There is no more data, and the iterations continue: one ended in the first 100 µs, and none ends in the next.
    loop.advanceTime(by: .microseconds(100))
    #expect(channels.map(reads) == [false, true, false])
    loop.advanceTime(by: .microseconds(100))
    #expect(channels.map(reads) == [false, true, true])
    loop.advanceTime(by: .microseconds(100))
    #expect(channels.map(reads) == [true, true, true])
  }

  @Test func `one that is gone keeps nobody waiting`() throws {
    let channels = try (0..<2).map { _ in try connect() }
    for channel in channels { try send(Limits.iterationShare, to: channel) }
    channels[0].pipeline.fireChannelInactive()
    loop.run()
    loop.advanceTime(by: .microseconds(100))
    #expect(reads(channels[1]) == true)
  }

  /// Returns the maximum number of reads in one iteration of the socket, or nil if it was never set.
  func readsAtOnce(_ channel: EmbeddedChannel) -> UInt? {
    channel.options.last { $0.option is ChannelOptions.Types.MaxMessagesPerReadOption }?.value as? UInt
  }

  @Test func `turns are larger while nobody sends little`() throws {
    let channel = try connect()
    func resume() throws {
      try send(Limits.iterationShare, to: channel)
      loop.run()
    }
    try resume()
    #expect(readsAtOnce(channel) == 4)
    context.noteSmallRequest()
    loop.run()
    try resume()
    #expect(readsAtOnce(channel) == 1)
    loop.advanceTime(by: .seconds(2))
    try resume()
    #expect(readsAtOnce(channel) == 4)
  }

  @Test func `a request of a known peer that sends little makes turns small, and no other request does`() throws {
    let (modest, heavy) = (try connect(isKnown: true), try connect(isKnown: true))
    let stranger = try connect()
    // Indexed :method, :scheme and :path (RFC 7541 appendix A), without further fields.
    func request(_ id: UInt8, _ channel: EmbeddedChannel) throws {
      try channel.writeInbound(ByteBuffer(bytes: [0, 0, 3, 1, 5, 0, 0, 0, id, 0x82, 0x86, 0x84]))
      loop.run()
    }
    try send(Limits.iterationShare, to: heavy)
    loop.run()
    try request(1, heavy)
    #expect(!context.isShared)
    try request(1, stranger)
    context.scheduleIterationEnd()
    loop.run()
    #expect(!context.isShared)
    // A frame that belongs to no request.
    try send(20, to: modest)
    loop.run()
    #expect(!context.isShared)
    try request(1, modest)
    context.scheduleIterationEnd()
    loop.run()
    #expect(context.isShared)
  }

  @Test func `who sends much waits for the mailbox, too`() throws {
    let channel = try connect()
    context.isPaused = { true }
    try send(Limits.iterationShare, to: channel)
    loop.run()
    loop.advanceTime(by: .milliseconds(1))
    #expect(reads(channel) == false)
    context.isPaused = { false }
    context.scheduleIterationEnd()
    loop.run()
    #expect(reads(channel) == true)
  }

  @Test func `the next turn comes at once, also while somebody sends little`() throws {
    let channels = try (0..<3).map { _ in try connect() }
    context.noteSmallRequest()
    loop.run()
    #expect(context.isShared)
    for channel in channels { try send(Limits.iterationShare, to: channel) }
    loop.run()
    #expect(channels.map(reads) == [true, false, false])
    for number in 0..<2 {
      try send(Limits.iterationShare, to: channels[number])
      loop.run()
      #expect(channels.map(reads) == (0..<3).map { $0 == number + 1 })
    }
  }
}
