import PushTesting
import Synchronization
import Testing

@testable import HTTP2Transport
@testable import PushCore

@Suite struct TicketKeysTests {
  final class Clock: Sendable {
    let time = Mutex<Int64>(5000)
    var keys: TicketKeys { TicketKeys { self.time.withLock { $0 } } }
    func wait(_ seconds: Int64) { time.withLock { $0 += seconds } }
  }

  let clock = Clock()

  @Test func `a key seals for an hour and opens for one more`() throws {
    let keys = clock.keys
    let first = try #require(keys.sealing())
    clock.wait(TicketKeys.period - 1)
    #expect(keys.sealing() == first)
    #expect(keys.opening(first.name)?.isOld == false)
    clock.wait(1)
    let second = try #require(keys.sealing())
    #expect(second != first && second.name != first.name)
    #expect(keys.opening(first.name)?.key == first)
    #expect(keys.opening(first.name)?.isOld == true)
    clock.wait(TicketKeys.period)
    #expect(keys.opening(first.name) == nil)
    #expect(keys.opening(second.name)?.isOld == true)
  }

  @Test func `a key that rested for long opens nothing`() throws {
    let keys = clock.keys
    let first = try #require(keys.sealing())
    clock.wait(2 * TicketKeys.period)
    #expect(keys.opening(first.name) == nil)
    #expect(keys.opening([UInt8](repeating: 0, count: 16)) == nil)
  }

  @Test func `a session is resumed with the key before, and not with an older one`() throws {
    let files = try TLSFiles()
    let context = try TLSContext.server(
      certificatePath: files.certificate, keyPath: files.key, ticketKeys: clock.keys)
    let client = try TLSContext.client(trustPath: files.trust)
    var session: TLSSession?
    // A connection that ends without a close_notify invalidates its session.
    var pairs: [TLSPair] = []
    for isResumed in [false, true, true, false] {
      let connection = try TLSConnection(client: client, host: "localhost")
      if let session { connection.resume(session) }
      let pair = try TLSPair(client: connection, server: TLSConnection(server: context))
      pairs.append(pair)
      try pair.run()
      try TLSPair.send([1], by: pair.server)
      try pair.run()
      #expect(pair.server.isResumed == isResumed)
      if session == nil { session = pair.client.session }
      clock.wait(TicketKeys.period - 10)
    }
  }
}
