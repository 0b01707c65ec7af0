import Synchronization
import Testing

@testable import HTTP2Transport
@testable import PushCore

@Suite struct UnauthenticatedConnectionsTests {
  /// The records of unauthenticated connections, with a clock, the reported limits and the ended connections.
  final class Home: Sendable {
    let time = Mutex<Int64>(1000)
    let limits = Mutex<[TransportLimit]>([])
    let ended = Mutex<[Int]>([])

    func unauthenticated(descriptors: Int) -> UnauthenticatedConnections {
      UnauthenticatedConnections(
        descriptors: descriptors, now: { self.time.withLock { $0 } },
        exceeded: { limit, _ in self.limits.withLock { $0.append(limit) } })
    }

    /// Registers the function that ends a connection; it records `number` unless the connection is busy.
    func attach(_ number: Int, to ticket: UnauthenticatedConnections.Ticket, isBusy: Bool = false) {
      ticket.attach {
        if isBusy { return }
        self.ended.withLock { $0.append(number) }
        ticket.release()
      }
    }

    var met: [TransportLimit] { limits.withLock { $0 } }
    var endedNumbers: [Int] { ended.withLock { $0 } }

    func wait(_ seconds: Int64) { time.withLock { $0 += seconds } }
  }

  let home = Home()

  @Test(arguments: [("192.0.2.1", "192.0.2.1"), ("2001:db8::1", "2001:db8::ffff"), ("::ffff:192.0.2.1", "192.0.2.1")])
  func `an address has so many connections, and one more when one is gone`(_ one: String, _ same: String) throws {
    let unauthenticated = home.unauthenticated(descriptors: 100_000)
    var tickets = try (0..<Limits.maximumAddressConnections).map { _ in try #require(unauthenticated.admit(one)) }
    #expect(unauthenticated.admit(same) == nil)
    #expect(home.met == [.addressConnections])
    for other in ["192.0.2.2", "2001:db8:0:1::1"] { tickets.append(try #require(unauthenticated.admit(other))) }
    tickets[0].release()
    tickets[0].release()
    tickets.append(try #require(unauthenticated.admit(same)))
    #expect(unauthenticated.admit(same) == nil)
    #expect(unauthenticated.count == Limits.maximumAddressConnections + 2)
    tickets = []
    #expect(unauthenticated.count == 0)
  }

  @Test(arguments: ["127.0.0.1", "127.8.9.1", "::1", "::ffff:127.0.0.1"])
  func `loopback has a budget of its own`(_ text: String) throws {
    let unauthenticated = home.unauthenticated(descriptors: 400)
    let tickets = try (0..<10_000).map { _ in try #require(unauthenticated.admit(text)) }
    #expect(unauthenticated.count == tickets.count && home.met.isEmpty)
  }

  @Test func `all strangers together hold a part of the descriptors, and the oldest goes first`() throws {
    let unauthenticated = home.unauthenticated(descriptors: 400)
    let local = try #require(unauthenticated.admit("127.0.0.1"))
    home.attach(-1, to: local)
    var tickets: [UnauthenticatedConnections.Ticket] = []
    func admit(_ number: Int) throws {
      let ticket = try #require(unauthenticated.admit("192.0.\(number / 30).1"))
      home.attach(number, to: ticket, isBusy: number == 1)
      tickets.append(ticket)
    }
    for number in 0..<100 { try admit(number) }
    #expect(home.met.isEmpty)
    home.wait(Int64(Limits.evictionAge))
    for number in 100..<104 { try admit(number) }
    #expect(home.met == .init(repeating: .unauthenticatedConnections, count: 4))
    // A busy connection is skipped.
    #expect(home.endedNumbers == [0, 2, 3])
  }

  @Test func `when descriptors run short the oldest go, and nobody who has just come`() throws {
    let unauthenticated = home.unauthenticated(descriptors: 400)
    var tickets: [UnauthenticatedConnections.Ticket] = []
    for number in 0..<40 {
      let ticket = try #require(unauthenticated.admit("127.0.0.1"))
      home.attach(number, to: ticket)
      tickets.append(ticket)
      if number == 29 { home.wait(Int64(Limits.evictionAge)) }
    }
    tickets[3].release()
    for _ in 0..<5 { unauthenticated.evictOldest() }
    #expect(home.endedNumbers == (0..<30).filter { $0 != 3 })
    #expect(home.met == .init(repeating: .descriptors, count: 5))
    #expect(unauthenticated.count == 10)
  }
}
