import PushCluster
import Synchronization
import Testing

@testable import NATSClient
@testable import PushCore

/// The information of gateways of a cluster about each other.
@Suite struct MembershipTests {
  /// A transport within the process. It delivers messages on the thread of the sender.
  private final class Transport: NATSTransport {
    private struct Listener {
      var subject: String
      var take: @Sendable (NATSMessage) -> Void
    }

    private let listeners = Mutex<[Listener]>([])
    let link = LinkState.connected(server: "")

    func publish(_ subject: String, reply: String?, headers: [(name: String, value: String)], _ body: [UInt8]) {
      let message = NATSMessage(subject: subject, reply: reply, headers: headers, body: body)
      for listener in listeners.withLock({ $0 }) where listener.subject == subject { listener.take(message) }
    }
    func subscribe(
      _ subject: String, queue: String?, _ handler: @escaping @Sendable (NATSMessage) -> Void
    ) throws(NATSError) -> @Sendable () -> Void {
      listeners.withLock { $0.append(Listener(subject: subject, take: handler)) }
      return {}
    }
    func request(
      _ subject: String, headers: [(name: String, value: String)], _ body: [UInt8], timeout: Duration,
      completion: @escaping @Sendable (Result<NATSMessage, NATSError>) -> Void
    ) { completion(.failure(.noResponders)) }
    func requestMany(
      _ subject: String, _ body: [UInt8], timeout: Duration,
      completion: @escaping @Sendable (Result<[NATSMessage], NATSError>) -> Void
    ) { completion(.failure(.noResponders)) }
    func onLink(_ listener: @escaping @Sendable (LinkState) -> Void) {}
    func reconnect() {}
  }

  /// A clock that a test moves.
  private final class Clock: Sendable {
    private let moment = Mutex(ContinuousClock.now)

    var now: ContinuousClock.Instant { moment.withLock { $0 } }
    func advance(_ time: Duration) { moment.withLock { $0 += time } }
  }

  private let transport = Transport()
  private let clock = Clock()
  private let peers: Membership

  init() throws {
    let clock = clock
    peers = Membership(
      transport, own: .init(id: "own", folder: "own-folder", addresses: ["own:1"], version: "", schema: 1),
      now: { clock.now })
    try peers.start()
  }

  private func announce(_ id: String, folder: String? = nil, at address: String, isLeaving: Bool = false) {
    var peer = Membership.Peer(id: id, folder: folder, addresses: [address], version: "", schema: 1)
    peer.isLeaving = isLeaving
    transport.publish("cell.gateways", controlJSON(peer))
  }

  private var known: [String] { peers.others.map { $0.peer.id + ($0.isPresent ? "" : " absent") } }

  @Test func `one that is silent is absent, stays known for an hour, and comes behind those that are there`() {
    announce("a", at: "a:1")
    clock.advance(.seconds(1))
    announce("b", at: "b:1")
    #expect(known == ["a", "b"])
    clock.advance(.seconds(10))
    announce("c", at: "c:1")
    #expect(known == ["c", "b absent", "a absent"])
    clock.advance(.seconds(3580))
    announce("c", at: "c:1")
    #expect(known == ["c", "b absent", "a absent"])
    clock.advance(.seconds(10))
    #expect(known == ["c absent"])
    clock.advance(.seconds(3600))
    #expect(known == [])
  }

  @Test func `one that was not known is told of this gateway at once`() throws {
    let told = Mutex(0)
    _ = try transport.subscribe("cell.gateways", queue: nil) { message in
      if (try? decodeJSON(Membership.Peer.self, from: message.body))?.id == "own" { told.withLock { $0 += 1 } }
    }
    let before = told.withLock { $0 }
    announce("new", at: "a:1")
    #expect(told.withLock { $0 } > before)
  }

  @Test func `one that has started again is there once`() {
    announce("old", folder: "f", at: "a:1")
    announce("older", at: "b:1")
    clock.advance(.seconds(10))
    announce("new", folder: "f", at: "a:2")
    announce("newer", at: "b:1")
    #expect(known == ["new", "newer"])
  }

  @Test func `of two that are there and share a folder's id none hides the other`() {
    announce("one", folder: "f", at: "a:1")
    announce("two", folder: "f", at: "b:1")
    #expect(known == ["one", "two"])
  }

  @Test func `what was this folder's own process is no other gateway`() {
    announce("before", folder: "own-folder", at: "own:1")
    clock.advance(.seconds(10))
    #expect(known == [])
  }

  @Test func `a crowd of absent ones makes room, and one of present ones does not`() {
    for number in 0..<1_000 { announce("\(number)", at: "h:\(number)") }
    announce("late", at: "late:1")
    #expect(peers.others.count == 1_000 && !known.contains("late"))
    clock.advance(.seconds(10))
    announce("late", at: "late:1")
    #expect(peers.others.count == 1_000 && known.first == "late")
  }

  @Test(arguments: ["", "{}", "[]", "{\"id\":7}"])
  func `what is no gateway's word is passed over`(_ text: String) {
    transport.publish("cell.gateways", Array(text.utf8))
    #expect(known == [])
  }
}
