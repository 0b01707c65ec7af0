import Foundation
import HTTP2Transport
import NIOHTTP1
import PushTesting
import Testing

@testable import GatewayClient
@testable import GatewayProtocol
@testable import PushCore
@testable import PushGateway
@testable import PushStorage

/// Messages with attachments, from the request of the sender to the request of the recipient's device.
@Suite(.timeLimit(.minutes(5))) struct AttachmentMessageTests {
  private static let token = "pgs-TEST"

  /// Runs a test with a gateway that has the sender `backup` of a device and of a group with another device, and a third
  /// device.
  private func run(
    _ body: (TestGateway, Client, _ phone: TestDevice, _ desk: TestDevice, _ other: TestDevice) async throws -> Void
  ) async throws {
    try await TestGateway.run { gateway in
      let phone = try await gateway.enroll("phone")
      let desk = try await gateway.enroll("desk", person: "ben")
      let other = try await gateway.enroll("other", person: "eve")
      let app = try gateway.registrations.app(topic: SampleRequest.topic).id
      let ben = try gateway.registrations.person(named: "ben").id
      let group = try await gateway.parts.groups.add("ops", [ben])
      _ = try await gateway.parts.groups.register(group, app: app, environment: .development)
      try await gateway.parts.messages.senders.add(
        MessageSender(
          name: "backup", app: app, recipients: [.device(phone.id), .group(group.id)], rate: 60, created: 1),
        token: AttachmentMessageTests.token)
      try await body(gateway, try await gateway.client(), phone, desk, other)
    }
  }

  private static let type = "multipart/form-data; boundary=b"

  private static func form(_ content: [UInt8], name: String = "report.txt") -> [UInt8] {
    let head =
      "--b\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\nBackup\r\n--b\r\nContent-Disposition: form-data; "
      + "name=\"attachment\"; filename=\"\(name)\"\r\nContent-Type: text/plain\r\n\r\n"
    return Array(head.utf8) + content + Array("\r\n--b--\r\n".utf8)
  }

  private func send(
    _ client: Client, _ content: [UInt8], _ fields: [(HeaderName, String)] = [],
    token: String = AttachmentMessageTests.token
  ) async throws -> Client.Answer {
    try await client.request(
      "POST", "/send/backup",
      [(.authorization, "bearer " + token), (.contentType, AttachmentMessageTests.type)] + fields,
      body: AttachmentMessageTests.form(content))
  }

  /// Returns the only push that is pending for a device.
  private func push(_ gateway: TestGateway, _ device: TestDevice) async throws -> StoredPush {
    let pending = try await gateway.parts.mailbox.pending(for: device.id, after: 0, limit: 10)
    #expect(pending.entries.count == 1)
    return try #require(pending.entries.first?.push)
  }

  /// Returns the description of the attachment in the payload of the only pending push of a device.
  private func reference(_ gateway: TestGateway, _ device: TestDevice) async throws -> AttachmentReference {
    let push = try await push(gateway, device)
    return try #require(AttachmentReference(payload: push.payload))
  }

  private func read(_ client: Client, _ id: String, _ device: TestDevice) async throws -> Client.Answer {
    try await client.request("GET", "/v1/device/attachments/\(id)", [device.authorization])
  }

  @Test func `the devices of the recipients read the attachment of a message for a day`() async throws {
    try await run { gateway, client, phone, desk, other in
      let content = [UInt8](repeating: 7, count: Limits.maximumAttachmentSize)
      let answer = try await send(client, content)
      #expect(answer.status == 200)
      let reference = try await reference(gateway, phone)
      #expect(reference.name == "report.txt" && reference.type == .text && reference.size == content.count)
      let same = try await self.reference(gateway, desk)
      #expect(same == reference)
      for device in [phone, desk] {
        let found = try await read(client, reference.id, device)
        #expect(found.status == 200 && found.body == content)
      }
      let stranger = try await read(client, reference.id, other)
      let unknown = try await read(client, AttachmentReference.randomID(), phone)
      #expect(stranger.status == 404 && unknown.status == 404 && stranger.body == unknown.body)
      let anonymous = try await client.request("GET", "/v1/device/attachments/\(reference.id)")
      #expect(anonymous.status == 401)
      gateway.clock.advance(seconds: Limits.attachmentLifetime)
      let late = try await read(client, reference.id, phone)
      #expect(late.status == 404)
      await gateway.parts.maintain()
      #expect(gateway.parts.attachments.usage.bytes == 0)
    }
  }

  @Test func `a browser saves an attachment, and never shows it as a page`() async throws {
    try await run { gateway, client, phone, _, _ in
      _ = try await send(client, Array("<script>".utf8))
      let reference = try await reference(gateway, phone)
      let router = DeviceAPI(gateway.parts).router
      let path = "/v1/device/attachments/\(reference.id)"
      guard case .found(let route, let parameters) = router.match(method: "GET", path: path) else {
        Issue.record("there is no route")
        return
      }
      var request = ControlRequest(
        method: "GET", target: path, authorization: phone.authorization.1, from: .remote)
      request.parameters = parameters
      let response = try await route.serve(request)
      #expect("\(response.contentType)" == "text/plain")
      let fields = Dictionary(uniqueKeysWithValues: response.fields.map { ("\($0.name)", $0.value) })
      #expect(fields["content-disposition"] == "attachment; filename=\"report.txt\"; filename*=UTF-8''report.txt")
      #expect(fields["x-content-type-options"] == "nosniff")
      #expect(fields["content-security-policy"] == "default-src 'none'; sandbox")
    }
  }

  @Test(arguments: [
    ("a b.txt", "attachment; filename=\"a b.txt\"; filename*=UTF-8''a%20b.txt"),
    ("ä\"\\%.txt", "attachment; filename=\"____.txt\"; filename*=UTF-8''%c3%a4%22%5c%25.txt"),
    ("a\r\nx: y", "attachment; filename=\"a__x: y\"; filename*=UTF-8''a%0d%0ax%3a%20y"),
  ])
  func `a name in a field ends no field`(_ name: String, _ expected: String) {
    #expect(AttachmentsAPI.disposition(name) == expected)
  }

  @Test func `a message that is sent again keeps one attachment`() async throws {
    try await run { gateway, client, phone, _, _ in
      for _ in 0..<2 {
        let answer = try await send(client, [1], [(.apnsID, SampleRequest.id)])
        #expect(answer.status == 200)
      }
      let reference = try await reference(gateway, phone)
      let found = try await read(client, reference.id, phone)
      #expect(found.status == 200 && found.body == [1])
    }
  }

  @Test func `the attachment of a message for later is kept for a day from its delivery`() async throws {
    try await run { gateway, client, _, _, _ in
      let body =
        "--b\r\nContent-Disposition: form-data; name=in\r\n\r\n2d\r\n"
        + String(
          decoding: AttachmentMessageTests.form([1]), as: UTF8.self)
      let answer = try await client.request(
        "POST", "/send/backup",
        [(.authorization, "bearer " + AttachmentMessageTests.token), (.contentType, AttachmentMessageTests.type)],
        body: Array(body.utf8))
      #expect(answer.status == 200)
      gateway.clock.advance(seconds: 3 * 86_400 - 1)
      try await gateway.parts.attachments.trim(now: gateway.clock.seconds)
      #expect(gateway.parts.attachments.usage.count == 1)
      gateway.clock.advance(seconds: 1)
      try await gateway.parts.attachments.trim(now: gateway.clock.seconds)
      #expect(gateway.parts.attachments.usage.count == 0)
    }
  }

  @Test func `a removed device and a removed user take the attachments that only they could read`() async throws {
    try await run { gateway, client, phone, desk, _ in
      _ = try await send(client, [1])
      try await gateway.parts.devices.remove(phone.id)
      let reference = try await reference(gateway, desk)
      let found = try await read(client, reference.id, desk)
      #expect(found.status == 200)
      try await gateway.parts.devices.remove(try gateway.registrations.person(named: "ben").id)
      #expect(gateway.parts.attachments.usage.bytes == 0)
    }
  }

  @Test func `only a sender with a valid token may send a large body, and one of any size has a limit`() async throws {
    try await run { gateway, client, _, _, _ in
      let large = [UInt8](repeating: 7, count: Limits.maximumAttachmentSize + 1)
      let tooLarge = try await send(client, large)
      #expect(tooLarge.status == 413)
      #expect(String(decoding: tooLarge.body, as: UTF8.self).contains("AttachmentTooLarge"))
      let much = try await send(client, large + [UInt8](repeating: 7, count: Limits.maximumAttachmentRequest))
      #expect(much.status == 413)
      let stranger = try await send(client, [UInt8](repeating: 7, count: 100_000), token: "pgs-OTHER")
      #expect(stranger.status == 401)
      #expect(gateway.parts.attachments.usage.bytes == 0)
    }
  }

  @Test func `the attachments of a sender have a maximum size`() async throws {
    try await run { gateway, client, phone, _, _ in
      let app = try gateway.registrations.app(topic: SampleRequest.topic).id
      let content = [UInt8](repeating: 7, count: Limits.maximumAttachmentSize)
      while gateway.parts.attachments.usage.bytes + content.count + Limits.attachmentOverhead
        <= Limits.maximumSenderAttachments
      {
        let one = StoredAttachment(
          AttachmentReference(
            id: AttachmentReference.randomID(), name: "a", type: .other, size: content.count), sender: "backup",
          app: app, recipients: [.device(phone.id)], expires: gateway.clock.seconds + 60)
        // The described size counts.
        _ = try await gateway.parts.attachments.put(one, content: [])
      }
      let answer = try await send(client, content)
      #expect(answer.status == 413)
      #expect(String(decoding: answer.body, as: UTF8.self).contains("AttachmentsFull"))
      #expect(gateway.parts.mailbox.waitingCount(for: phone.id) == 0)
    }
  }

  @Test func `a file in the form of ntfy, and one over HTTP 1_1, are attachments`() async throws {
    try await run { gateway, client, phone, _, _ in
      let content = [UInt8](repeating: 0xFF, count: 100_000)
      let answer = try await client.request(
        "PUT", "/ntfy/backup?filename=a.png&message=Look", [(.authorization, "bearer " + AttachmentMessageTests.token)],
        body: content)
      #expect(answer.status == 200)
      let reference = try await reference(gateway, phone)
      #expect(reference.name == "a.png" && reference.type == .png && reference.size == content.count)
      let messages = try await HTTP1Messages(gateway)
      func status(_ token: String) async -> Int {
        await messages.answer(
          .POST, "/send/backup",
          [("Authorization", "Bearer " + token), ("Content-Type", AttachmentMessageTests.type)],
          AttachmentMessageTests.form(content)
        ).status
      }
      let (known, unknown) = (await status(AttachmentMessageTests.token), await status("pgs-OTHER"))
      #expect(known == 200 && unknown == 413)
      #expect(gateway.parts.attachments.usage.count == 2)
    }
  }
}
