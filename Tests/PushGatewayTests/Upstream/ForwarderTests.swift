import Glibc
import NIOCore
import NIOEmbedded
import PushCore
import PushTesting
import Testing

@testable import HTTP2Transport
@testable import PushGateway

@Suite struct ForwarderTests {
  private let bench = ForwarderBench()

  @Test func `pushes of one provider token share a connection, and each gets its own answer`() throws {
    try bench.send("first")
    try bench.send("second")
    #expect(bench.dialCount == 1)
    let peer = try bench.accept()
    #expect(peer.session.messages.map { $0.fields[.apnsID] } == ["first", "second"])
    #expect(peer.session.messages.map(\.body) == [Array("{}".utf8), Array("{}".utf8)])
    try peer.answer(1, status: 400, [(.apnsID, "x"), (.retryAfter, "7")], body: Array("{}".utf8))
    try peer.answer(0)
    #expect(bench.ends == ["first": "200", "second": "400"])
    guard case .answered(let answer)? = bench.outcomes.first?.outcome else {
      Issue.record("the first outcome is an answer")
      return
    }
    #expect(answer.fields.map { $0.name } == [.apnsID, .retryAfter])
    #expect(answer.body == Array("{}".utf8))
    #expect(bench.upstream.meter.totals.reduce(0, +) == 2 && bench.upstream.meter.current == 0)
  }

  @Test func `each provider token has a connection of its own`() throws {
    try bench.send("a", token: "bearer a")
    try bench.send("b", token: "bearer b")
    #expect(bench.dialCount == 2)
    let (one, other) = (try bench.accept(), try bench.accept())
    #expect(one.session.messages.map { $0.fields[.apnsID] } == ["a"])
    #expect(other.session.messages.map { $0.fields[.apnsID] } == ["b"])
  }

  @Test func `no more streams are open than the upstream allows`() throws {
    for name in ["1", "2", "3"] { try bench.send(name) }
    let peer = try bench.accept(maximumStreams: 1)
    #expect(peer.session.messages.count == 1)
    try peer.answer(0)
    #expect(peer.session.messages.map { $0.fields[.apnsID] } == ["1", "2"])
    try peer.answer(1)
    try peer.answer(2)
    #expect(bench.ends == ["1": "200", "2": "200", "3": "200"])
  }

  @Test func `a push that GOAWAY excludes is sent again on another connection, and no other push`() throws {
    try bench.send("processed")
    let peer = try bench.accept()
    try bench.send("excluded")
    try peer.goAway()
    #expect(bench.dialCount == 1)
    let next = try bench.accept()
    #expect(next.session.messages.map { $0.fields[.apnsID] } == ["excluded"])
    #expect(bench.ends.isEmpty)
    try peer.answer(0)
    try next.answer(0)
    #expect(bench.ends == ["processed": "200", "excluded": "200"])
    #expect(!peer.channel.isActive, "the first connection carries nothing any more")
  }

  @Test func `a refused push is sent three times`() throws {
    try bench.send("x")
    let peer = try bench.accept()
    for number in 0..<3 {
      let stream = try #require(peer.session.session.stream(peer.session.heads[number]))
      peer.session.session.reset(stream, .refusedStream)
      try peer.run()
    }
    #expect(bench.ends == ["x": "not sent, 1"])
    #expect(peer.session.heads.count == 3)
  }

  @Test func `a lost connection ends the pushes that were sent, and the queued ones get another connection`() throws {
    try bench.send("sent")
    try bench.send("queued")
    let peer = try bench.accept(maximumStreams: 1)
    peer.kill()
    #expect(bench.ends == ["sent": "lost"])
    try bench.accept().answer(0)
    #expect(bench.ends == ["sent": "lost", "queued": "200"])
  }

  @Test func `while the upstream can't be reached, pushes end at once, and the gateway tries again`() throws {
    try bench.send("early")
    bench.fail()
    #expect(bench.ends == ["early": "not sent, 1"])
    #expect(bench.upstream.warning?.part == "upstream")
    #expect(throws: Forwarder.Refusal.unreachable(seconds: 1)) { try bench.send("late") }
    #expect(bench.dialCount == 0)
    bench.loop.advanceTime(by: TimeAmount(Limits.firstUpstreamPause))
    #expect(bench.dialCount == 1, "the gateway tries without a push")
    try bench.send("later")
    let peer = try bench.accept()
    #expect(bench.upstream.warning == nil)
    try peer.answer(0)
    #expect(bench.ends == ["early": "not sent, 1", "later": "200"])
  }

  @Test func `an error of a request is an outage with its cause, and opens no connection after connection`() throws {
    try bench.send("first")
    try bench.send("second")
    try bench.acceptWithoutRequests()
    #expect(bench.ends == ["first": "not sent, 1", "second": "not sent, 1"])
    #expect(bench.dialCount == 0)
    #expect(bench.upstream.warning?.part == "upstream")
    bench.loop.advanceTime(by: TimeAmount(Limits.firstUpstreamPause))
    #expect(bench.dialCount == 1, "the gateway tries again")
  }

  @Test func `only used-up stream numbers are a reason to send a request on another connection`() {
    #expect(HTTP2Error(code: -509).isOutOfStreams)
    // Out of memory, and a request on the session of a server.
    for code in [-901, -505] as [Int32] { #expect(!HTTP2Error(code: code).isOutOfStreams) }
  }

  /// Makes an outage of an environment without a link: the provider tokens of the other one have replaced its link.
  private func makeOutageWithoutLink() throws {
    try bench.send("early", isVerified: false, environment: .production)
    bench.fail()
    bench.loop.advanceTime(by: .milliseconds(1))
    for number in 0..<Limits.maximumUnverifiedConnections {
      try bench.send("\(number)", token: "bearer \(number)", isVerified: false)
      try bench.accept().answer(0)
    }
    #expect(bench.upstream.warning?.part == "upstream")
  }

  @Test func `an outage without a link ends only when the upstream can be reached`() throws {
    try makeOutageWithoutLink()
    bench.loop.advanceTime(by: TimeAmount(Limits.firstUpstreamPause))
    #expect(bench.upstream.warning?.part == "upstream")
    #expect(bench.dialCount == 1)
    let peer = try bench.accept()
    #expect(bench.upstream.warning == nil)
    #expect(!peer.channel.isActive, "the connection has no provider token")
    #expect(peer.session.heads.isEmpty)
  }

  @Test func `an outage without a link continues while the upstream can't be reached`() throws {
    try makeOutageWithoutLink()
    bench.loop.advanceTime(by: TimeAmount(Limits.firstUpstreamPause))
    bench.fail()
    #expect(bench.upstream.warning?.part == "upstream")
    bench.loop.advanceTime(by: TimeAmount(Limits.firstUpstreamPause * 2))
    #expect(bench.dialCount == 1, "the gateway tries again")
  }

  @Test(arguments: [EMFILE, ECONNREFUSED])
  func `the reason of an outage contains the error of the system`(_ code: Int32) {
    let words = Upstream.words(of: IOError(errnoCode: code, reason: "connect"))
    #expect(words == "the connection failed (\(SystemError(code)))")
  }

  @Test func `a push without an answer ends in time, its late answer is dropped, and others get a new connection`()
    throws
  {
    try bench.send("slow")
    let peer = try bench.accept()
    bench.loop.advanceTime(by: .seconds(Limits.forwardTime - 1))
    #expect(bench.ends.isEmpty)
    bench.loop.advanceTime(by: .seconds(2))
    #expect(bench.ends == ["slow": "lost"])
    try peer.run()
    #expect(peer.session.closings.values.contains(HTTP2ErrorCode.cancel.rawValue))
    try bench.send("next")
    #expect(bench.dialCount == 1)
    try bench.accept().answer(0)
    #expect(bench.ends == ["slow": "lost", "next": "200"])
  }

  @Test func `a push whose connection is never ready ends in time`() throws {
    try bench.send("x")
    bench.loop.advanceTime(by: .seconds(Limits.forwardTime + 1))
    #expect(bench.ends == ["x": "not sent, 1"])
  }

  @Test func `a sender that goes away cancels its push`() throws {
    let queued = try bench.send("queued")
    queued.closed()
    #expect(bench.ends == ["queued": "abandoned"])
    let sent = try bench.send("sent")
    let peer = try bench.accept()
    sent.closed()
    try peer.run()
    #expect(bench.ends == ["queued": "abandoned", "sent": "abandoned, sent"])
    #expect(peer.session.closings.values.contains(HTTP2ErrorCode.cancel.rawValue))
    #expect(peer.channel.isActive)
    sent.closed()
    #expect(bench.outcomes.count == 2)
  }

  @Test func `the stream of a canceled push is free for a queued one`() throws {
    let first = try bench.send("first")
    try bench.send("second")
    let peer = try bench.accept(maximumStreams: 1)
    first.closed()
    try peer.run()
    #expect(peer.session.messages.map { $0.fields[.apnsID] } == ["first", "second"])
    try peer.answer(1)
    #expect(bench.ends == ["first": "abandoned, sent", "second": "200"])
  }

  @Test func `the streams of a sender that goes away are not for its queued pushes`() throws {
    let (sent, queued) = (try bench.send("sent"), try bench.send("queued"))
    let peer = try bench.accept(maximumStreams: 1)
    sent.closed()
    queued.closed()
    try peer.run()
    #expect(peer.session.messages.map { $0.fields[.apnsID] } == ["sent"])
    #expect(bench.ends == ["sent": "abandoned, sent", "queued": "abandoned"])
  }

  @Test func `an answer that is too large counts as none`() throws {
    try bench.send("x")
    let body = [UInt8](repeating: 0x20, count: Limits.maximumForwardedAnswer + 1)
    try bench.accept().answer(0, body: body)
    #expect(bench.ends == ["x": "lost"])
  }

  @Test func `pushes are limited in number, those of unverified senders to a part of it`() throws {
    let share = Limits.maximumForwards / Limits.unverifiedForwardShare
    for number in 0..<share { try bench.send("u\(number)", token: "bearer u", isVerified: false) }
    #expect(throws: Forwarder.Refusal.full) { try bench.send("u", token: "bearer u", isVerified: false) }
    for number in share..<Limits.maximumForwards { try bench.send("v\(number)") }
    #expect(throws: Forwarder.Refusal.full) { try bench.send("v") }
    #expect(bench.forwarder.brokenInvariant() == nil)
    bench.forwarder.close()
    #expect(bench.outcomes.count == Limits.maximumForwards)
    #expect(bench.forwarder.brokenInvariant() == nil)
  }

  @Test func `new provider tokens are limited, and an unused connection makes space for another`() throws {
    let count = Limits.maximumUpstreamConnections
    for number in 0..<count { try bench.send("\(number)", token: "bearer \(number)") }
    #expect(throws: Forwarder.Refusal.full) { try bench.send("more", token: "bearer more") }
    let first = try bench.accept()
    try first.answer(0)
    #expect(throws: Forwarder.Refusal.tooManyTokens) { try bench.send("more", token: "bearer more") }
    bench.loop.advanceTime(by: .seconds(1))
    try bench.send("late", token: "bearer late")
    #expect(bench.dialCount == count)
  }

  @Test func `unverified senders have few connections`() throws {
    for number in 0..<Limits.maximumUnverifiedConnections {
      try bench.send("\(number)", token: "bearer \(number)", isVerified: false)
    }
    #expect(throws: Forwarder.Refusal.full) { try bench.send("more", token: "bearer more", isVerified: false) }
    try bench.send("verified", token: "bearer verified")
  }

  @Test func `a provider token beyond the limit costs no sender its connection`() throws {
    var peers: [ForwarderBench.Peer] = []
    for number in 0..<Limits.upstreamTokens.burst {
      try bench.send("\(number)", token: "bearer \(number)", isVerified: false)
      let peer = try bench.accept()
      try peer.answer(0)
      peers.append(peer)
    }
    #expect(throws: Forwarder.Refusal.full) { try bench.send("more", token: "bearer more", isVerified: false) }
    for peer in peers { try peer.run() }
    #expect(peers.count { $0.channel.isActive } == Limits.maximumUnverifiedConnections)
  }

  @Test func `an unused connection ends`() throws {
    try bench.send("x")
    let peer = try bench.accept()
    try peer.answer(0)
    for _ in 0...Limits.upstreamIdleTime {
      bench.loop.advanceTime(by: .seconds(1))
      try peer.run()
    }
    #expect(!peer.channel.isActive)
  }

  @Test func `a drain answers the rest before the connections of the senders close`() throws {
    try bench.send("x")
    _ = try bench.accept()
    bench.forwarder.drain(within: .restart)
    bench.loop.advanceTime(by: DrainTimes.restart.requests)
    #expect(bench.ends.isEmpty)
    bench.loop.advanceTime(by: DrainTimes.restart.answers)
    #expect(bench.ends == ["x": "lost"])
  }
}
