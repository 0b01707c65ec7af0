import Foundation
import GatewayProtocol
import PushCore
import Synchronization
import Testing

@testable import GatewayClient

/// A session with a cluster: several gateways, and a named numbering epoch.
extension DeviceSessionTests {
  private static func welcome(_ epoch: String?, _ gateways: String = "") -> String {
    let numbering = epoch.map { #""epoch":"\#($0)","# } ?? ""
    let others = gateways.isEmpty ? "" : #""gateways":[\#(gateways)],"#
    return #"{"type":"welcome","version":3,"gateway":"g",\#(numbering)\#(others)"apps":[],"preferences":{}}"#
  }

  private static func hello(_ cursor: UInt64, _ epoch: String) -> String {
    #"{"type":"hello","version":3,"cursor":\#(cursor),"epoch":"\#(epoch)","silent":false}"#
  }

  private static let caughtUp = #"{"type":"caught-up","seq":0}"#
  private static let unreachable = Result<ScriptedLink, ClientError>.failure(
    ClientError(.unreachable, "nothing answers"))

  @Test func `a gateway that dies is followed by the next at once, and a pause comes when all were tried`() async throws
  {
    let (first, second) = (ScriptedLink(), ScriptedLink())
    let attempts = [.success(first), Self.unreachable, Self.unreachable, Self.unreachable, .success(second)]
    try await run(attempts, ports: [1, 2, 3]) { _, events, gateway in
      _ = await first.nextLine()
      first.say(Self.welcome, Self.caughtUp)
      await events.skip(3)
      first.lose()
      for isAtOnce in [true, true, false, true] {
        guard case .disconnected(_, let pause)? = await events.next() else {
          Issue.record("a disconnection is expected")
          return
        }
        #expect((pause == .zero) == isAtOnce)
      }
      #expect(await second.nextLine() == Self.hello(0))
      #expect(gateway.tried.withLock { $0 } == [1, 2, 3, 1, 2])
      #expect(gateway.pauses.withLock { $0.count } == 1)
    }
  }

  @Test func `gateways that end each stream at once are not tried without a pause`() async throws {
    let links = (0..<4).map { _ in ScriptedLink() }
    try await run(links.map { .success($0) }, ports: [1, 2]) { _, events, gateway in
      for (number, link) in links.enumerated() {
        _ = await link.nextLine()
        link.say(Self.welcome, #"{"type":"bye","reason":"mailbox-unavailable"}"#)
        link.finish()
        await events.skip(3)
        guard case .disconnected(_, let pause)? = await events.next() else {
          Issue.record("a disconnection is expected")
          return
        }
        #expect((pause == .zero) == (number % 2 == 0))
      }
    }
  }

  @Test(arguments: [401, 503]) func `a gateway that refuses says nothing of the others`(_ status: Int) async throws {
    let refusal = Result<ScriptedLink, ClientError>.failure(ClientError(.refused(status: status), "no"))
    let link = ScriptedLink()
    try await run([refusal, .success(link)], ports: [1, 2]) { session, events, gateway in
      guard case .disconnected(_, .zero)? = await events.next() else {
        Issue.record("the next one is expected at once")
        return
      }
      #expect(await link.nextLine() == Self.hello(0))
      #expect(!session.isRefused && gateway.tried.withLock { $0 } == [1, 2])
    }
  }

  @Test func `a device that no gateway knows has been refused`() async throws {
    let refusal = Result<ScriptedLink, ClientError>.failure(ClientError(.refused(status: 401), "who?"))
    try await run([refusal, refusal], ports: [1, 2]) { session, events, _ in
      await events.skip(2)
      #expect(await events.next() == nil)
      #expect(session.isRefused)
    }
    // A gateway that is unreachable may have the device's registration.
    try await run([Self.unreachable, refusal, refusal], ports: [1, 2]) { session, events, gateway in
      await events.skip(3)
      #expect(!session.isRefused)
    }
  }

  @Test func `what a gateway tells of the others is remembered, and where it sends the device is where it goes`()
    async throws
  {
    let (first, second) = (ScriptedLink(), ScriptedLink())
    try await run([.success(first), .success(second)]) { _, events, gateway in
      _ = await first.nextLine()
      first.say(Self.welcome("cell-1", #""g:2","g:3","nonsense","g:2""#), Self.caughtUp)
      await events.skip(4)
      first.say(#"{"type":"bye","reason":"shutdown","gateways":["g:3"]}"#)
      first.hangUp()
      guard case .disconnected(_, .zero)? = await events.next() else {
        Issue.record("the next one is expected at once")
        return
      }
      _ = await second.nextLine()
      #expect(gateway.tried.withLock { $0 } == [1, 3])
      second.say(Self.welcome("cell-1", #""g:1","g:2""#))
      await events.skip(3)
      // Another gateway sent the same list of addresses.
      #expect(gateway.remembered.withLock { $0 } == [Self.addresses([1, 2, 3])])
    }
  }

  @Test func `what was remembered is tried when the gateway that was named is away`() async throws {
    let link = ScriptedLink()
    try await run([Self.unreachable, .success(link)], reported: [1, 2]) { _, events, gateway in
      await events.skip(1)
      _ = await link.nextLine()
      #expect(gateway.tried.withLock { $0 } == [1, 2] && gateway.pauses.withLock { $0.isEmpty })
      // A gateway without a cluster has no other gateways.
      link.say(Self.welcome, push(1))
      await events.skip(3)
      // The addresses are stored before the first push is read.
      #expect(await events.pushes() == [1])
      #expect(gateway.remembered.withLock { $0 } == [[]])
    }
  }

  @Test func `a device that moves to a cell gets all that waits there, and names its numbering from then on`()
    async throws
  {
    let (alone, first, second) = (ScriptedLink(), ScriptedLink(), ScriptedLink())
    try await run([.success(alone), .success(first), .success(second)]) { session, events, _ in
      _ = await alone.nextLine()
      alone.say(Self.welcome, push(57))
      await events.skip(3)
      #expect(await events.pushes() == [57])
      try session.store(57)
      alone.lose()
      await events.skip(1)
      #expect(await first.nextLine() == Self.hello(57))
      first.say(Self.welcome("cell-1"), push(4), push(9))
      await events.skip(3)
      guard case .renumbered(NumberingEpoch("cell-1"))? = await events.next() else {
        Issue.record("a new numbering is expected")
        return
      }
      #expect(await events.pushes() == [4, 9])
      // The pushes of the previous epoch are still being stored. Their numbers have no meaning for this gateway.
      try session.store(58)
      try session.acknowledge(58)
      try session.begin(NumberingEpoch("cell-1"))
      #expect(session.cursorValue == 0)
      try session.store(4)
      try session.acknowledge(4)
      #expect(await first.nextLine() == #"{"type":"ack","seq":4}"#)
      first.lose()
      await events.skip(1)
      #expect(await second.nextLine() == Self.hello(4, "cell-1"))
      second.say(Self.welcome("cell-1"), push(9), push(11))
      await events.skip(3)
      #expect(await events.pushes() == [11])
    }
  }

  @Test func `what is stored while a stream begins is acknowledged when the gateway has said its numbering`()
    async throws
  {
    let (first, second) = (ScriptedLink(), ScriptedLink())
    try await run([.success(first), .success(second)]) { session, events, _ in
      _ = await first.nextLine()
      first.say(Self.welcome, push(1), push(2))
      await events.skip(3)
      #expect(await events.pushes() == [1, 2])
      first.lose()
      await events.skip(1)
      #expect(await second.nextLine() == Self.hello(0))
      try session.store(2)
      try session.acknowledge(2)
      second.say(Self.welcome)
      #expect(await second.nextLine() == #"{"type":"ack","seq":2}"#)
    }
  }

  @Test func `a receiver whose own record is of the new numbering goes on with it`() async throws {
    let link = ScriptedLink()
    let epoch = NumberingEpoch("cell-1")
    try await run([.success(link)]) { session, events, _ in
      try session.resume(after: NumberedPosition(epoch: epoch, seq: 5))
      #expect(await link.nextLine() == Self.hello(0))
      link.say(Self.welcome("cell-1"), push(5), push(6))
      await events.skip(3)
      guard case .renumbered(epoch)? = await events.next() else {
        Issue.record("the cursor is of another numbering")
        return
      }
      #expect(await events.pushes() == [6])
    }
  }
}
