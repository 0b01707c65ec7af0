import Foundation
import PushPolicy
import PushTesting
import Testing

@testable import GatewayClient
@testable import GatewayProtocol
@testable import HTTP2Transport
@testable import PushCore
@testable import PushGateway
@testable import PushStorage

/// The effects of the removal of a device, a secret or a user.
@Suite(.timeLimit(.minutes(5))) struct RevocationTests {
  static let revoked = #"{"type":"bye","reason":"revoked"}"#

  @Test(arguments: [
    "DELETE /admin/v1/devices/laptop", "POST /admin/v1/devices/laptop/secret", "DELETE /admin/v1/persons/ada",
  ])
  func `open streams end at once, and the secret is good no longer`(_ request: String) async throws {
    try await TestGateway.run { gateway in
      let client = try await gateway.client()
      let (device, other) = (try await gateway.enroll("laptop", person: "ada"), try await gateway.enroll("other"))
      let (one, two) = (try await TestStream.open(client, device), try await TestStream.open(client, device))
      let kept = try await TestStream.open(client, other)
      for stream in [one, two, kept] { _ = try await stream.lines(upTo: "caught-up") }
      let silent = try await client.stream("POST", "/v1/device/stream", [device.authorization])
      let parts = request.split(separator: " ").map(String.init)
      let body = Array(parts[0] == "POST" ? "{}".utf8 : "".utf8)
      let answer = try await client.request(parts[0], parts[1], body: body)
      #expect(answer.status == (parts[0] == "POST" ? 201 : 204))
      for stream in [one, two] {
        #expect(try await stream.next()?.text == RevocationTests.revoked)
        #expect(try await stream.next() == nil)
      }
      // A stream that has not begun does not begin any more.
      silent.send(#"{"type":"hello","cursor":0}"#)
      var lines: [String] = []
      for try await line in silent.lines { lines.append(String(decoding: line, as: UTF8.self)) }
      #expect(lines == [RevocationTests.revoked])
      #expect(try await client.request("GET", "/v1/device/preferences", [device.authorization]).status == 401)
      _ = try await gateway.push(client, to: other.token)
      #expect(try await kept.next()?.seq == 1)
      guard parts[0] == "POST" else { return }
      let secret = try JSONDecoder().decode(Enrolled.self, from: Data(answer.body)).secret
      let renewed = TestDevice(id: device.id, name: device.name, secret: secret, token: device.token)
      let again = try await TestStream.caughtUp(client, renewed)
      #expect(try await gateway.push(client, to: device.token).status == 200)
      #expect(try await again.next()?.seq == 1)
    }
  }

  @Test func `a stream of events ends, too`() async throws {
    try await TestGateway.run { gateway in
      let (client, device) = (try await gateway.client(), try await gateway.enroll())
      let opened = try await client.stream("GET", "/v1/device/stream", [device.authorization])
      var last = ""
      for try await line in opened.lines {
        let text = String(decoding: line, as: UTF8.self)
        if text.contains("caught-up") { _ = try await gateway.registrations.rotateSecret(of: device.id) }
        if !text.isEmpty { last = text }
      }
      #expect(last == "data: " + RevocationTests.revoked)
    }
  }

  @Test func `streams of a batch end when it is removed, and its deferred pushes go`() async throws {
    try await TestGateway.run { gateway in
      let client = try await gateway.client()
      let batch = try await gateway.registrations.enroll(
        batch: "load", numbers: 0..<1, topic: SampleRequest.topic, environment: .development)
      let device = TestDevice(id: 1, name: "load-0", secret: batch[0].secret, token: batch[0].token.hex)
      let stream = try await TestStream.caughtUp(client, device)
      let app = try gateway.registrations.app(topic: SampleRequest.topic).id
      gateway.parts.held.add(
        MailboxEntry(seq: 1, push: samplePush(1, to: device.id, app: app)), Deferral(by: .summary, until: .max),
        PushNotification(), nil)
      #expect(try await client.request("DELETE", "/admin/v1/batches/load").status == 204)
      #expect(try await stream.next()?.text == RevocationTests.revoked)
      #expect(gateway.parts.held.count == 0)
    }
  }

  @Test func `a device that is removed leaves nothing that waits, and its token says since when`() async throws {
    try await TestGateway.run { gateway in
      let (client, device) = (try await gateway.client(), try await gateway.enroll())
      _ = try await gateway.push(client, to: device.token)
      #expect(try await client.request("DELETE", "/admin/v1/devices/laptop").status == 204)
      let answer = try await gateway.push(client, to: device.token)
      #expect(answer.status == 410)
      #expect(String(decoding: answer.body, as: UTF8.self).contains("\(gateway.clock.seconds * 1000)"))
      await gateway.parts.mailbox.settle()
      #expect(gateway.parts.mailbox.waitingCount(for: device.id) == 0)
      #expect(try await client.request("DELETE", "/admin/v1/devices/laptop").status == 404)
      // A new device with the same name gets no data of the old one.
      let next = try await gateway.enroll("laptop")
      #expect(next.id != device.id)
      let log = try await client.request("GET", "/v1/device/log", [next.authorization])
      #expect(String(decoding: log.body, as: UTF8.self) == "[]")
    }
  }

  @Test func `a person goes with devices, choices, reports and rows of the log, and others keep theirs`() async throws {
    try await TestGateway.run { gateway in
      let client = try await gateway.client()
      let (phone, laptop) = (
        try await gateway.enroll("phone", person: "ada"), try await gateway.enroll("laptop", person: "ada")
      )
      let bob = try await gateway.enroll("bob")
      var ids: [APNSID] = []
      for device in [phone, laptop, bob] {
        let answer = try await gateway.push(client, to: device.token)
        let id = try #require(answer.apnsID.flatMap { APNSID($0) })
        ids.append(id)
        let body = Array(#"{"id":"\#(id)","topic":"\#(SampleRequest.topic)","text":"mine"}"#.utf8)
        let report = try await client.request("POST", "/v1/device/ads/reports", [device.authorization], body: body)
        #expect(report.status == 204)
      }
      // Rows of a device that was removed earlier are removed together with the user.
      #expect(try await client.request("DELETE", "/admin/v1/devices/phone").status == 204)
      #expect(try await gateway.events(of: ids[0]).isEmpty == false)
      #expect(try await client.request("DELETE", "/admin/v1/persons/ada").status == 204)
      for id in ids.prefix(2) { #expect(try await gateway.events(of: id).isEmpty) }
      #expect(try await gateway.events(of: ids[2]).first == .accepted)
      #expect(try await gateway.registrations.adReports(of: nil, limit: 10, before: nil).map(\.device) == [bob.id])
      #expect(gateway.registrations.persons.map(\.name) == ["bob"])
      #expect(gateway.registrations.devices.map(\.name) == ["bob"])
      let next = try await gateway.enroll("phone", person: "ada")
      #expect(gateway.registrations.preferences(of: next.id) == .init())
    }
  }

  @Test func `what was known of a person can be read in no file any more`() async throws {
    try await TestGateway.run { gateway in
      let client = try await gateway.client()
      let ada = try await gateway.enroll("phone", person: "ada-lovelace")
      let bob = try await gateway.enroll("laptop", person: "bob-the-builder")
      var marks: [DeviceID: [String: [UInt8]]] = [:]
      for (device, name) in [(ada, "ada-lovelace"), (bob, "bob-the-builder")] {
        // The audit trail keeps the names in administrators' requests.
        let choice = "chosen.by.\(name)"
        let answer = try await client.request(
          "PUT", "/v1/device/preferences/apps/" + choice, [device.authorization], body: Array(#"{"badge":false}"#.utf8))
        #expect(answer.status == 200)
        marks[device.id] = ["choice": Array(choice.utf8), "report": Array("said-by-\(name)".utf8)]
      }
      let stream = try await TestStream.caughtUp(client, ada)
      // The devices alternate, so that their rows share pages. Half of Ada's pushes are acknowledged, as is usual.
      for number in 0..<60 {
        for device in [ada, bob] {
          let text = "for-\(device.name)-\(number)-" + String(repeating: "x", count: number * 50)
          let answer = try await gateway.push(client, to: device.token, payload: #"{"aps":{"alert":"\#(text)"}}"#)
          let id = try #require(answer.apnsID.flatMap { APNSID($0) })
          marks[device.id]?["id"] = Array(id.stored.prefix(16))
          guard number == 0 else { continue }
          let said = "said-by-" + (device.id == ada.id ? "ada-lovelace" : "bob-the-builder")
          let report = #"{"id":"\#(id)","topic":"\#(SampleRequest.topic)","text":"\#(said)"}"#
          let reported = try await client.request(
            "POST", "/v1/device/ads/reports", [device.authorization], body: Array(report.utf8))
          #expect(reported.status == 204)
        }
        if let line = try await stream.next(), number < 30 { stream.acknowledge(line.seq) }
      }
      for device in [ada, bob] { marks[device.id]?["text"] = Array("for-\(device.name)-".utf8) }
      _ = try await gateway.rows(.init(limit: 1))
      for (device, marks) in marks {
        let found = try RevocationTests.found(marks, in: gateway.folder)
        #expect(found.keys.sorted() == marks.keys.sorted(), "of \(device) before")
      }
      #expect(try await client.request("DELETE", "/admin/v1/persons/ada-lovelace").status == 204)
      #expect(try RevocationTests.found(marks[ada.id] ?? [:], in: gateway.folder) == [:])
      // The data of the other user stays.
      #expect(
        try RevocationTests.found(marks[bob.id] ?? [:], in: gateway.folder).keys.sorted()
          == marks[bob.id]?.keys.sorted())
    }
  }

  @Test(arguments: [true, false]) func `a private key that is imported is in no file`(_ isSound: Bool) async throws {
    try await TestGateway.run { gateway in
      let pem = String(decoding: try ES256Key.generate().privatePEM, as: UTF8.self)
      // The first characters of every private key, which JSON doesn't escape.
      let secret = try #require(pem.split(separator: "\n").dropFirst().first).prefix(40)
      let request = KeyRequest(
        team: isSound ? TestGateway.team : "NOSUCHTEAM", environment: nil, topics: [], id: "ABC123DEFH", pem: pem)
      let body = try JSONEncoder().encode(request)
      let answer = try await gateway.client().request("POST", "/admin/v1/keys", body: Array(body))
      #expect((answer.status == 201) == isSound, "\(String(decoding: answer.body, as: UTF8.self))")
      #expect(try RevocationTests.found(["key": Array(secret.utf8)], in: gateway.folder) == [:])
    }
  }

  /// Returns, for each mark, the files of a folder that contain it.
  private static func found(_ marks: [String: [UInt8]], in folder: TemporaryFolder) throws -> [String: [String]] {
    var found: [String: [String]] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() where name.contains("sqlite")
    {
      let bytes = try Data(contentsOf: URL(fileURLWithPath: folder.file(name)))
      for (mark, wanted) in marks where bytes.range(of: Data(wanted)) != nil { found[mark, default: []].append(name) }
    }
    return found
  }

  @Test func `persons are listed and renamed, and devices say when they were last connected`() async throws {
    try await TestGateway.run { gateway in
      let client = try await gateway.client()
      let phone = try await gateway.enroll("phone", person: "ada")
      _ = try await gateway.enroll("laptop", person: "ada")
      func body(_ method: String, _ path: String, _ text: String = "") async throws -> String {
        String(decoding: try await client.request(method, path, body: Array(text.utf8)).body, as: UTF8.self)
      }
      #expect(try await body("GET", "/admin/v1/persons") == #"[{"devices":["laptop","phone"],"name":"ada"}]"#)
      #expect(
        try await body("POST", "/admin/v1/persons/ada/name", #"{"name":"Ada Lovelace"}"#)
          == #"{"devices":["laptop","phone"],"name":"Ada Lovelace"}"#)
      #expect(try await client.request("DELETE", "/admin/v1/persons/ada").status == 404)
      func seen() async throws -> [String?] {
        let answer = try await client.request("GET", "/admin/v1/devices")
        return try JSONDecoder().decode([DeviceRecord].self, from: Data(answer.body)).map(\.lastSeen)
      }
      #expect(try await seen() == [nil, nil])
      let stream = try await TestStream.caughtUp(client, phone)
      gateway.clock.advance(seconds: 60)
      #expect(try await seen() == [nil, "2027-01-15T08:01:00.000Z"])
      stream.finish()
      _ = try await stream.lines(upTo: "bye")
      await eventually { gateway.parts.router.count(of: phone.id) == 0 }
      try await gateway.registrations.note(seen: gateway.parts.presence.take())
      gateway.clock.advance(seconds: 60)
      #expect(try await seen() == [nil, "2027-01-15T08:01:00.000Z"])
    }
  }

  @Test func `what is noted of many devices comes in slices`() {
    let presence = LastSeen()
    for number in 0...Limits.presenceSlice { presence.note(DeviceID(row: Int64(number)), at: 5) }
    let (first, second) = (presence.take(), presence.take())
    #expect(first.count == Limits.presenceSlice && second.count == 1)
    #expect(Set(first.keys).isDisjoint(with: second.keys))
    #expect(presence.take().isEmpty)
  }

  @Test func `rows of some devices are cut out of a batch of the log, and the others stay as they were`() throws {
    var batch = LogBatch()
    let details: [DeliveryDetail] = [.nothing, .fact(.deviceOffline), .answered("approve"), .words("x")]
    for number in 0..<40 {
      batch.append(
        .init(
          at: Int64(number), event: .accepted, id: .number(number), uniqueID: number % 3 == 0 ? .number(99) : nil,
          device: number % 4 == 3 ? nil : DeviceID(row: Int64(number % 4)), app: 1, detail: details[number % 4]))
    }
    let rest = try #require(LogBatch.bytes(batch.bytes, without: [1, 2]))
    let rows = LogBatch.rows(rest).map(\.row)
    #expect(rows.map(\.id) == (0..<40).filter { $0 % 4 == 0 || $0 % 4 == 3 }.map(APNSID.number))
    #expect(rows.allSatisfy { $0.detail == details[Int($0.at) % 4] })
    #expect(LogBatch.bytes(rest, without: [1, 2]) == nil)
    #expect(LogBatch.bytes(rest + [1, 2, 3], without: [5]) == nil)
    #expect(LogBatch.bytes([], without: [1]) == nil)
  }
}
