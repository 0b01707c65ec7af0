import Foundation
import HTTP2Transport
import PushPolicy
import PushTesting
import Testing

@testable import GatewayClient
@testable import GatewayProtocol
@testable import PushCore
@testable import PushGateway
@testable import PushStorage

@Suite(.timeLimit(.minutes(5))) struct DeviceStreamTests {
  @Test func `a device gets its welcome, and pushes as they come`() async throws {
    try await TestGateway.run { gateway in
      let (client, device) = (try await gateway.client(), try await gateway.enroll())
      let stream = try await TestStream.open(client, device)
      let welcome = try #require(try await stream.next())
      #expect(
        welcome.text.hasPrefix(
          #"{"type":"welcome","version":3,"gateway":"pushgateway","device":"laptop","apps":[{"topic":"com.example.news","name":"News","icon":"📰"}],"preferences":{"#
        ))
      #expect(try await stream.next()?.text == #"{"type":"caught-up","seq":0}"#)
      let payload = #"{"aps":{"alert":{"title":"T","body":"B"},"badge":3,"sound":"default"},"x":[1]}"#
      let fields: [(HeaderName, String)] = [
        (.apnsID, SampleRequest.id), (.apnsCollapseID, "c"), (.apnsExpiration, "1800003600"),
      ]
      #expect(try await gateway.push(client, to: device.token, fields, payload: payload).status == 200)
      let head =
        #"{"type":"push","seq":1,"id":"\#(SampleRequest.id)","topic":"com.example.news","app":{"name":"News","icon":"📰"},"#
        + #""received":"2027-01-15T08:00:00.000Z","expires":"2027-01-15T09:00:00.000Z","collapse":"c","presentation":"#
      let presentation =
        #"{"badge":3,"sound":"default","alert":{"title":"T","subtitle":"","body":"B","buttons":["Close","View"]}}"#
      #expect(try await stream.next()?.text == head + presentation + #","payload":"# + payload + "}")
    }
  }

  @Test func `what waited comes first, in order, then caught-up, then live`() async throws {
    try await TestGateway.run { gateway in
      let (client, device) = (try await gateway.client(), try await gateway.enroll())
      for _ in 0..<5 { _ = try await gateway.push(client, to: device.token) }
      let stream = try await TestStream.open(client, device)
      let lines = try await stream.lines(upTo: "caught-up")
      #expect(lines.map(\.type) == ["welcome", "push", "push", "push", "push", "push", "caught-up"])
      #expect(lines.map(\.seq) == [0, 1, 2, 3, 4, 5, 5])
      _ = try await gateway.push(client, to: device.token)
      #expect(try await stream.next()?.seq == 6)
    }
  }

  @Test func `an acknowledged push does not come again, and a reconnect goes on from the cursor`() async throws {
    try await TestGateway.run { gateway in
      let (client, device) = (try await gateway.client(), try await gateway.enroll())
      for _ in 0..<6 { _ = try await gateway.push(client, to: device.token) }
      let first = try await TestStream.caughtUp(client, device)
      first.acknowledge(2)
      first.finish()
      #expect(try await first.lines(upTo: "never").map(\.text) == [#"{"type":"bye","reason":"goodbye"}"#])
      await gateway.parts.mailbox.settle()
      #expect(gateway.parts.mailbox.waitingCount(for: device.id) == 4)
      let second = try await TestStream.open(client, device)
      #expect(try await second.lines(upTo: "caught-up").map(\.seq) == [0, 3, 4, 5, 6, 6])
      let third = try await TestStream.open(client, device, cursor: 5)
      #expect(try await third.lines(upTo: "caught-up").map(\.seq) == [0, 6, 6])
      await gateway.parts.mailbox.settle()
      #expect(gateway.parts.mailbox.waitingCount(for: device.id) == 1)
    }
  }

  @Test func `a stored push that can't be read is told once, and the others come`() async throws {
    try await TestGateway.run { gateway in
      let (client, device) = (try await gateway.client(), try await gateway.enroll())
      let levels = String(repeating: "[", count: 100) + String(repeating: "]", count: 100)
      _ = try await gateway.push(client, to: device.token)
      let registration = try #require(gateway.registrations.registrations(of: device.id).first)
      let deep = StoredPush(
        device: device.id, app: registration.1.id, id: .number(7), isSenderID: false, uniqueID: .number(8),
        received: gateway.clock.seconds * 1000, expires: gateway.clock.seconds + 60, priority: 10, collapseID: "",
        payload: Array(#"{"aps":{"alert":"a"},"x":\#(levels)}"#.utf8))
      #expect(await gateway.parts.mailbox.append([deep]).map(\.seq) == [2])
      _ = try await gateway.push(client, to: device.token)
      let first = try await TestStream.open(client, device)
      let lines = try await first.lines(upTo: "caught-up")
      #expect(lines.map(\.type) == ["welcome", "push", "undeliverable", "push", "caught-up"])
      #expect(
        lines[2].text.hasPrefix(#"{"type":"undeliverable","id":"\#(APNSID.number(7))","topic":"com.example.news""#))
      await gateway.parts.mailbox.settle()
      let second = try await TestStream.open(client, device)
      #expect(try await second.lines(upTo: "caught-up").map(\.seq) == [0, 1, 3, 3])
      second.acknowledge(3)
      _ = try await gateway.push(client, to: device.token)
      #expect(try await second.next()?.seq == 4)
      #expect(try await gateway.events(of: .number(7)) == [.undeliverable])
    }
  }

  @Test func `what a device says it can't read leaves the mailbox and is not acknowledged`() async throws {
    try await TestGateway.run { gateway in
      let (client, device) = (try await gateway.client(), try await gateway.enroll())
      let stream = try await TestStream.caughtUp(client, device)
      stream.send(#"{"type":"undeliverable","seq":1}"#)
      var ids: [APNSID] = []
      for number in 1...3 {
        let answer = try await gateway.push(client, to: device.token)
        ids.append(try #require(answer.apnsID.flatMap { APNSID($0) }))
        #expect(try await stream.next()?.seq == UInt64(number))
      }
      for seq in ["2", "99", "0", "-1"] { stream.send(#"{"type":"undeliverable","seq":\#(seq)}"#) }
      stream.acknowledge(3)
      stream.finish()
      _ = try await stream.lines(upTo: "never")
      await gateway.parts.mailbox.settle()
      #expect(gateway.parts.mailbox.waitingCount(for: device.id) == 0)
      for (id, event) in zip(ids, [.acknowledged, .undeliverable, .acknowledged] as [DeliveryEvent]) {
        #expect(try await gateway.events(of: id).last == event)
      }
    }
  }

  @Test func `nothing can be acknowledged that was not sent`() async throws {
    try await TestGateway.run { gateway in
      let (client, device) = (try await gateway.client(), try await gateway.enroll())
      let stream = try await TestStream.caughtUp(client, device)
      stream.acknowledge(1_000_000)
      _ = try await gateway.push(client, to: device.token)
      #expect(try await stream.next()?.seq == 1)
      await gateway.parts.mailbox.settle()
      #expect(try await gateway.parts.mailbox.waiting(device.id) == [1])
    }
  }

  @Test func `a device that does not read costs a bounded amount, and gets everything later, in order`() async throws {
    try await TestGateway.run { gateway in
      let (client, device) = (try await gateway.client(), try await gateway.enroll())
      let sleepy = try await SleepyClient.connect(path: gateway.folder.file("socket"))
      let stream = try await sleepy.stream(device)
      var lines = stream.lines.makeAsyncIterator()
      stream.send(#"{"type":"hello","cursor":0}"#)
      while let line = try await lines.next(), TestLine(line).type != "caught-up" {}
      try await sleepy.sleep()
      let payload = ProviderAPITests.payload(size: 4096)
      // A line contains the payload, the text of its alert a second time, and less than 512 other bytes.
      let bound = Limits.maximumStreamBacklog + 2 * 4096 + 512
      for _ in 0..<200 {
        #expect(try await gateway.push(client, to: device.token, payload: payload).status == 200)
        #expect(try await gateway.outboundSizes().max() ?? 0 <= bound)
      }
      #expect(try await gateway.outboundSizes().max() ?? 0 >= Limits.maximumStreamBacklog)
      try await sleepy.wake()
      var numbers: [UInt64] = []
      while numbers.count < 200, let line = try await lines.next() { numbers.append(TestLine(line).seq) }
      #expect(numbers == Array(1...200))
      _ = try await gateway.push(client, to: device.token)
      #expect(try await lines.next().map { TestLine($0).seq } == 201)
      try await sleepy.close()
    }
  }

  @Test func `a device that does not read what waited costs a bounded amount, too`() async throws {
    try await TestGateway.run { gateway in
      let (client, device) = (try await gateway.client(), try await gateway.enroll())
      let payload = ProviderAPITests.payload(size: 4096)
      for _ in 0..<300 { _ = try await gateway.push(client, to: device.token, payload: payload) }
      let sleepy = try await SleepyClient.connect(path: gateway.folder.file("socket"))
      let stream = try await sleepy.stream(device)
      try await sleepy.sleep()
      stream.send(#"{"type":"hello","cursor":0}"#)
      // The mailbox is read on another thread, so the test polls until bytes were sent and the size stays the same.
      var sizes: [Int] = []
      while sizes.last ?? 0 == 0 || Set(sizes.suffix(50)).count > 1 || sizes.count < 50 {
        sizes.append(try await gateway.outboundSizes().max() ?? 0)
        _ = try await gateway.parts.mailbox.pending(for: device.id, after: 0, limit: 1)
      }
      #expect(sizes.max() ?? 0 <= Limits.maximumStreamBacklog + 2 * 4096 + 512)
      try await sleepy.wake()
      var numbers: [UInt64] = []
      for try await line in stream.lines {
        let line = TestLine(line)
        if line.type == "push" { numbers.append(line.seq) }
        if line.type == "caught-up" { break }
      }
      #expect(numbers == Array(1...300))
      try await sleepy.close()
    }
  }

  @Test func `two streams of one device get every push, and the first answer wins`() async throws {
    try await TestGateway.run { gateway in
      let (client, device) = (try await gateway.client(), try await gateway.enroll())
      let (one, two) = (try await TestStream.open(client, device), try await TestStream.open(client, device))
      for stream in [one, two] { _ = try await stream.lines(upTo: "caught-up") }
      _ = try await gateway.push(client, to: device.token, [(.apnsID, SampleRequest.id)])
      #expect(try await one.next()?.seq == 1)
      #expect(try await two.next()?.seq == 1)
      one.send(#"{"type":"answer","id":"\#(SampleRequest.id)","action":"view"}"#)
      #expect(
        try await two.next()?.text
          == #"{"type":"retract","id":"\#(SampleRequest.id)","action":"view","device":"laptop"}"#)
      _ = try await gateway.push(client, to: device.token)
      #expect(try await one.lines(upTo: "push").last?.seq == 2)
      #expect(try await two.next()?.seq == 2)
    }
  }

  @Test func `a push that is replaced has one end, whoever comes first`() async throws {
    try await TestGateway.run { gateway in
      let (client, device) = (try await gateway.client(), try await gateway.enroll())
      let stream = try await TestStream.caughtUp(client, device)
      var ids: [APNSID] = []
      // Each push is acknowledged while the next one replaces it.
      for number in 1...100 {
        async let answer = gateway.push(client, to: device.token, [(.apnsCollapseID, "a")])
        if number > 1 { stream.acknowledge(UInt64(number - 1)) }
        ids.append(try #require(try await answer.apnsID.flatMap { APNSID($0) }))
        _ = try await stream.lines(upTo: "push")
      }
      stream.acknowledge(100)
      try await gateway.say(stream, as: device, client)
      for id in ids {
        let ends = try await gateway.events(of: id).filter { [.collapsed, .acknowledged].contains($0) }
        #expect(ends.count == 1, "\(ends)")
      }
    }
  }

  @Test func `a push that is replaced is retracted`() async throws {
    try await TestGateway.run { gateway in
      let (client, device) = (try await gateway.client(), try await gateway.enroll())
      let stream = try await TestStream.caughtUp(client, device)
      _ = try await gateway.push(client, to: device.token, [(.apnsID, SampleRequest.id), (.apnsCollapseID, "a")])
      _ = try await gateway.push(client, to: device.token, [(.apnsCollapseID, "a")])
      #expect(try await stream.next()?.seq == 1)
      #expect(try await stream.next()?.text == #"{"type":"retract","id":"\#(SampleRequest.id)"}"#)
      #expect(try await stream.next()?.seq == 2)
    }
  }

  @Test func `a push that is never stored reaches who is there, without a number, and nobody later`() async throws {
    try await TestGateway.run { gateway in
      let (client, device) = (try await gateway.client(), try await gateway.enroll())
      #expect(try await gateway.push(client, to: device.token, [(.apnsExpiration, "0")]).status == 200)
      let stream = try await TestStream.open(client, device)
      #expect(try await stream.lines(upTo: "caught-up").map(\.type) == ["welcome", "caught-up"])
      #expect(try await gateway.push(client, to: device.token, [(.apnsExpiration, "300")]).status == 200)
      let line = try #require(try await stream.next())
      #expect(line.text.hasPrefix(#"{"type":"push","seq":0,"#))
      #expect(line.json["expires"] == nil)
      #expect(gateway.parts.mailbox.waitingCount(for: device.id) == 0)
    }
  }

  @Test func `a retry of what was stored is not delivered again when its time is over`() async throws {
    try await TestGateway.run { gateway in
      let (client, device) = (try await gateway.client(), try await gateway.enroll())
      let stream = try await TestStream.caughtUp(client, device)
      let fields: [(HeaderName, String)] = [
        (.apnsID, SampleRequest.id), (.apnsExpiration, "\(TestClock.start + 10)"),
      ]
      #expect(try await gateway.push(client, to: device.token, fields).status == 200)
      #expect(try await stream.next()?.seq == 1)
      stream.acknowledge(1)
      gateway.clock.advance(seconds: 11)
      #expect(try await gateway.push(client, to: device.token, fields).status == 200)
      let next = try await gateway.push(client, to: device.token, [(.apnsExpiration, "0")])
      #expect(try await stream.next()?.json["id"] as? String == next.apnsID)
    }
  }

  @Test func `an expired push is not sent`() async throws {
    try await TestGateway.run { gateway in
      let (client, device) = (try await gateway.client(), try await gateway.enroll())
      _ = try await gateway.push(client, to: device.token, [(.apnsExpiration, "\(TestClock.start + 10)")])
      _ = try await gateway.push(client, to: device.token)
      gateway.clock.advance(seconds: 10)
      let stream = try await TestStream.open(client, device)
      #expect(try await stream.lines(upTo: "caught-up").map(\.seq) == [0, 2, 2])
    }
  }

  @Test func `what the cap drove out is told as a gap`() async throws {
    try await TestGateway.run(cap: 3) { gateway in
      let (client, device) = (try await gateway.client(), try await gateway.enroll())
      for _ in 0..<5 { _ = try await gateway.push(client, to: device.token) }
      let stream = try await TestStream.open(client, device)
      let lines = try await stream.lines(upTo: "caught-up")
      #expect(lines.dropFirst().first?.text == #"{"type":"gap","from":1,"to":2,"dropped":2}"#)
      #expect(lines.filter { $0.type == "push" }.map(\.seq) == [3, 4, 5])
    }
  }

  @Test func `a change of preferences reaches every stream of the person, and holds for the next push`() async throws {
    try await TestGateway.run { gateway in
      let client = try await gateway.client()
      let (laptop, phone) = (
        try await gateway.enroll("laptop", person: "ada"), try await gateway.enroll("phone", person: "ada")
      )
      let stream = try await TestStream.caughtUp(client, phone)
      let answer = try await client.request(
        "PUT", "/v1/device/preferences/apps/" + SampleRequest.topic, [laptop.authorization],
        body: Array(#"{"sound":false}"#.utf8))
      #expect(answer.status == 200)
      let line = try #require(try await stream.next())
      #expect(line.text.hasPrefix(#"{"type":"preferences","preferences":{"alert":true,"apps":{"com.example.news":{"#))
      _ = try await gateway.push(client, to: phone.token, payload: #"{"aps":{"badge":1,"sound":"default"}}"#)
      #expect(try await stream.next()?.text.contains(#""presentation":{"badge":1},"#) == true)
    }
  }

  @Test func `a silent device is not sent a sound`() async throws {
    try await TestGateway.run { gateway in
      let (client, device) = (try await gateway.client(), try await gateway.enroll())
      let stream = try await TestStream.caughtUp(client, device, silent: true)
      let payload = #"{"aps":{"badge":1,"sound":"default"}}"#
      _ = try await gateway.push(client, to: device.token, payload: payload)
      #expect(try await stream.next()?.text.contains(#""presentation":{"badge":1},"#) == true)
      // The lines of a device are processed in order, and so are requests after them.
      stream.send(#"{"type":"state","silent":false}"#)
      _ = try await gateway.push(client, to: device.token, payload: payload)
      #expect(try await stream.next()?.text.contains(#""presentation":{"badge":1,"sound":"default"},"#) == true)
    }
  }

  @Test func `lines that are unknown, no JSON or come in pieces do no harm`() async throws {
    try await TestGateway.run { gateway in
      let (client, device) = (try await gateway.client(), try await gateway.enroll())
      let opened = try await client.stream("POST", "/v1/device/stream", [device.authorization])
      for line in ["", "words", "[]", "{}", #"{"type":"x"}"#, #"{"type":"ack"}"#, #"{"type":"ack","seq":-5}"#] {
        opened.send(line)
      }
      opened.send("{\"type\":\"hello\"}\n\n{\"type\":\"hello\",\"cursor\":99}")
      var types: [String] = []
      for try await line in opened.lines {
        types.append(TestLine(line).type)
        if types.last == "caught-up" { opened.finish() }
      }
      #expect(types == ["welcome", "caught-up", "bye"])
    }
  }

  @Test(arguments: [Limits.maximumLineSize - 2, 3 * Limits.maximumLineSize])
  func `a line that is too long ends the stream`(_ size: Int) async throws {
    try await TestGateway.run { gateway in
      let (client, device) = (try await gateway.client(), try await gateway.enroll())
      let stream = try await TestStream.caughtUp(client, device)
      stream.send(String(repeating: "x", count: size))
      if size < Limits.maximumLineSize { stream.finish() }
      let bye = try #require(try await stream.next())
      #expect(bye.json["reason"] as? String == (size < Limits.maximumLineSize ? "goodbye" : "line-too-long"))
      #expect(try await stream.next() == nil)
      stream.finish()
    }
  }

  @Test func `a stream of events frames the same lines, and goes on after Last-Event-ID`() async throws {
    try await TestGateway.run { gateway in
      let (client, device) = (try await gateway.client(), try await gateway.enroll())
      for _ in 0..<3 { _ = try await gateway.push(client, to: device.token) }
      let opened = try await client.stream("GET", "/v1/device/stream", [device.authorization, (.lastEventID, "1")])
      var lines: [String] = []
      for try await line in opened.lines {
        lines.append(String(decoding: line.prefix(24), as: UTF8.self))
        if lines.last?.hasPrefix(#"data: {"type":"caught-up"#) == true { break }
      }
      #expect(
        lines
          == [
            #"data: {"type":"welcome","#, "", "id: 2", #"data: {"type":"push","seq""#, "", "id: 3",
            #"data: {"type":"push","seq""#, "", #"data: {"type":"caught-up""#,
          ].map { String($0.prefix(24)) })
      let answer = try await client.request(
        "POST", "/v1/device/acknowledgements", [device.authorization], body: Array(#"{"seq":2}"#.utf8))
      #expect(answer.status == 204)
      await gateway.parts.mailbox.settle()
      #expect(try await gateway.parts.mailbox.waiting(device.id) == [3])
    }
  }

  @Test func `an acknowledgement in a request has rows for the pushes of the stream of events`() async throws {
    try await TestGateway.run { gateway in
      let (client, device) = (try await gateway.client(), try await gateway.enroll())
      for _ in 0..<3 { _ = try await gateway.push(client, to: device.token) }
      let opened = try await client.stream("GET", "/v1/device/stream", [device.authorization])
      var sent = 0
      for try await line in opened.lines {
        guard String(decoding: line, as: UTF8.self).hasPrefix(#"data: {"type":"push""#) else { continue }
        sent += 1
        // The stream has received the acknowledgement before this push.
        if sent == 4 { break }
        guard sent == 3 else { continue }
        for body in [#"{"seq":2}"#, #"{"seq":2}"#, #"{"seq":1}"#] {
          let answer = try await client.request(
            "POST", "/v1/device/acknowledgements", [device.authorization], body: Array(body.utf8))
          #expect(answer.status == 204)
        }
        _ = try await gateway.push(client, to: device.token)
      }
      let rows = try await gateway.rows(.init()).map(\.row.event)
      #expect(rows.filter { $0 == .transmitted }.count == 4)
      #expect(rows.filter { $0 == .acknowledged }.count == 2)
      opened.finish()
    }
  }

  @Test(arguments: ["", "bearer wrong", "basic x"])
  func `a stream without the device's secret is refused in words`(_ authorization: String) async throws {
    try await TestGateway.run { gateway in
      let client = try await gateway.client()
      let error = await #expect(throws: ClientError.self) {
        _ = try await client.stream("POST", "/v1/device/stream", [(.authorization, authorization)])
      }
      guard case .refused(status: 401) = error?.kind else {
        Issue.record("refused with \(String(describing: error))")
        return
      }
      #expect(error?.description.hasPrefix("missing or wrong device secret") == true)
      #expect(try await client.request("GET", "/v1/device/preferences").status == 401)
      #expect(try await gateway.outboundSizes().isEmpty)
    }
  }

  @Test func `the delivery log tells what became of a push`() async throws {
    try await TestGateway.run { gateway in
      let (client, device) = (try await gateway.client(), try await gateway.enroll())
      let app = try gateway.registrations.app(topic: SampleRequest.topic)
      try await gateway.registrations.putCategory(app.id, "CHAT", [AlertAction(id: "REPLY", title: "Reply")])
      let stream = try await TestStream.caughtUp(client, device, silent: true)
      _ = try await gateway.push(
        client, to: device.token, [(.apnsID, SampleRequest.id)],
        payload: #"{"aps":{"alert":"a","sound":"b","category":"CHAT"}}"#)
      _ = try await stream.next()
      stream.acknowledge(1)
      stream.send(#"{"type":"presented","id":"\#(SampleRequest.id)","parts":["alert","badge"]}"#)
      stream.send(#"{"type":"answer","id":"\#(SampleRequest.id)","action":"REPLY"}"#)
      stream.finish()
      _ = try await stream.lines(upTo: "bye")
      await gateway.parts.answers.settle()
      // Closing the log writes its queued rows.
      try await gateway.endIterations()
      gateway.parts.log.close()
      let answer = try await client.request(
        "GET", "/v1/device/log?id=" + SampleRequest.id.lowercased(), [device.authorization])
      let records = try JSONDecoder().decode([LogRecord].self, from: Data(answer.body))
      let rows = records.map { "\($0.event) \($0.detail ?? "-")" }
      // The thread that stores an answer logs it, and the loop logs all other events: within a millisecond their order
      // is undefined.
      let answers = rows.filter { $0.hasPrefix("action") }
      #expect(answers == ["action REPLY"])
      #expect(
        rows.filter { !answers.contains($0) } == [
          "accepted -", "stored -", "transmitted sound alert; silent; category CHAT", "suppressed sound S4 silent",
          "acknowledged -", "presented badge alert",
        ])
      #expect(records.allSatisfy { $0.id == SampleRequest.id && $0.device == "laptop" })
    }
  }

  @Test func `a drain says bye, then GOAWAY, and ends`() async throws {
    let gateway = try await TestGateway()
    let (client, device) = (try await gateway.client(), try await gateway.enroll())
    let stream = try await TestStream.caughtUp(client, device)
    async let stopping: Void = gateway.stop()
    #expect(try await stream.next()?.text == #"{"type":"bye","reason":"shutdown"}"#)
    #expect(try await stream.next() == nil)
    await stopping
    let error = await #expect(throws: ClientError.self) { _ = try await client.request("GET", "/v1/device/log") }
    #expect(error?.description == "the gateway ends the connection: Shutdown")
  }
}
