import NIOCore
import NIOEmbedded
import PushPolicy
import PushTesting
import Testing

@testable import GatewayProtocol
@testable import HTTP2Transport
@testable import PushCore
@testable import PushGateway
@testable import PushStorage

/// The answers to senders of broadcasts, without a socket.
@Suite struct BroadcastAPITests {
  private static let topic = SampleRequest.topic
  private let clock = TestClock()
  private let folder: TemporaryFolder
  private let parts: GatewayParts
  private let pair: ConnectionPair
  private let api: BroadcastAPI
  private let shared: LoopParts
  private let app: App
  private let key: ES256Key

  /// A receiver in place of a device's stream.
  private final class Receiver: BroadcastReceiver {
    var messages: [BroadcastMessage] = []
    func deliver(_ message: BroadcastMessage) { messages.append(message) }
    func pack() {}
    func flush() {}
  }

  init() async throws {
    folder = try TemporaryFolder()
    let store = try SQLiteStore(path: folder.file("push.sqlite"))
    let log = DeliveryLog(path: folder.file("log.sqlite"), retention: 86_400 * 365 * 100, logger: .silent)
    let registrations = try SQLiteRegistrations(store: store)
    let backend = GatewayBackend(
      registrations: registrations, mailbox: MemoryMailbox(clock: clock) { _ in }, router: DeviceStreamRegistry(),
      durability: .localDisk(.full), close: {})
    var configuration = Configuration.defaults
    (configuration.state, configuration.rateLimit) = (folder.path, 3)
    parts = try GatewayParts(
      configuration, backend: backend, store: store, log: log, clock: clock.wallClock, logger: .silent)
    key = try ES256Key.generate()
    try await registrations.addTeam(TestGateway.team)
    try await registrations.addKey(
      ProviderKey(id: "ABC123DEFG", team: TestGateway.team, publicKey: key, environment: nil, topics: nil))
    app = try await registrations.putApp(topic: Self.topic, name: "News", icon: "N", policyMode: .enforce)
    let handler = StubHandler()
    handler.maximumBodySize = Limits.maximumControlBodySize
    pair = try ConnectionPair(handler)
    shared = LoopParts(parts, loop: pair.context, logger: .silent)
    let provider = ProviderAPI(
      shared, tokens: ProviderTokenCache(registrations: registrations),
      dispatcher: Dispatcher(
        loop: pair.context,
        destinations: .init(
          mailbox: parts.mailbox, router: parts.router, log: parts.log, clock: parts.clock),
        log: shared.log, stages: shared.meter.stages))
    let api = BroadcastAPI(shared, provider: provider, logger: .silent)
    self.api = api
    handler.maximumBodySize = Limits.maximumBroadcastPayloadSize + 1
    handler.onRequest = { api.serve($0) }
  }

  private func channel(_ policy: BroadcastChannel.StoragePolicy = .mostRecentMessage, app: AppID? = nil) async throws
    -> ChannelID
  {
    try await parts.channels.create(
      app: app ?? self.app.id, environment: .development, policy: policy, now: clock.seconds * 1000)[0]
  }

  /// Returns the fields of a valid message to a channel. Each test changes one of them.
  private func fields(_ channel: ChannelID) throws -> [(HeaderName, String)] {
    [
      (.authorization, "bearer " + (try TokenRecipe().text(by: key))), (.apnsChannelID, channel.description),
      (.apnsPushType, "liveactivity"), (.apnsExpiration, "0"), (.apnsPriority, "10"),
    ]
  }

  private static let payload = #"{"aps":{"timestamp":1,"event":"update","content-state":{}}}"#

  private func send(
    _ fields: [(HeaderName, String)], method: String = "POST", path: String = "/4/broadcasts/apps/" + topic,
    payload: String = payload
  ) throws -> (status: String?, reason: String?, fields: [HeaderName: String], body: String) {
    try pair.request(path, method: method, fields, body: payload.isEmpty ? nil : Array(payload.utf8))
    let answer = try #require(pair.client.messages.last)
    let reason = (try? JSONParser().parse(answer.body.span) { $0["reason"]?.string }) ?? nil
    return (answer.status, reason, answer.fields, String(decoding: answer.body, as: UTF8.self))
  }

  /// One change of a valid message, and the reason of its refusal.
  private struct Refusal: Sendable, CustomTestStringConvertible {
    var reason: Reason
    var name: HeaderName?
    var value: String?
    var method = "POST"
    var path = "/4/broadcasts/apps/" + topic
    var payload = BroadcastAPITests.payload
    var testDescription: String { "\(reason.rawValue) \(name.map { "\($0)" } ?? path) \(value ?? "-")" }
  }

  private static let unknownChannel = "AAAAAAAAAAAAAAAAAAAAAA=="

  private static let refusals: [Refusal] = [
    .init(reason: .methodNotAllowed, method: "GET"), .init(reason: .badPath, path: "/4/broadcasts/x/" + topic),
    .init(reason: .badPath, path: "/4/broadcasts/apps/"), .init(reason: .badPath, path: "/4/broadcasts/apps/a/b"),
    .init(reason: .missingProviderToken, name: .authorization, value: nil),
    .init(reason: .invalidProviderToken, name: .authorization, value: "bearer a.b.c"),
    .init(reason: .badMessageId, name: .apnsRequestID, value: "7"),
    .init(reason: .badMessageId, name: .apnsID, value: "7"),
    .init(reason: .topicDisallowed, path: "/4/broadcasts/apps/com.example.unknown"),
    .init(reason: .topicDisallowed, path: "/4/broadcasts/apps/" + topic + ".push-type.liveactivity"),
    .init(reason: .topicDisallowed, path: "/4/broadcasts/apps/a%20b"),
    .init(reason: .missingChannelId, name: .apnsChannelID, value: nil),
    .init(reason: .missingChannelId, name: .apnsChannelID, value: ""),
    .init(reason: .badChannelId, name: .apnsChannelID, value: "x"),
    .init(reason: .badChannelId, name: .apnsChannelID, value: unknownChannel),
    .init(reason: .missingPushType, name: .apnsPushType, value: nil),
    .init(reason: .invalidPushType, name: .apnsPushType, value: "alert"),
    .init(reason: .badExpirationDate, name: .apnsExpiration, value: nil),
    .init(reason: .badExpirationDate, name: .apnsExpiration, value: "-1"),
    .init(reason: .badExpirationDate, name: .apnsExpiration, value: "1e9"),
    .init(reason: .badPriority, name: .apnsPriority, value: "7"), .init(reason: .payloadEmpty, payload: ""),
    .init(reason: .payloadTooLarge, payload: #"{"aps":{"x":""# + String(repeating: "x", count: 5120) + #""}}"#),
    .init(reason: .badRequestPayload, payload: "words"), .init(reason: .badRequestPayload, payload: "[]"),
    .init(reason: .badRequestPayload, payload: #"{"aps":{"event":"start"}}"#),
  ]

  @Test(arguments: refusals) private func `a message that is not acceptable has its reason`(_ refusal: Refusal)
    async throws
  {
    var fields = try fields(try await channel())
    if let name = refusal.name {
      fields.removeAll { $0.0 == name }
      if let value = refusal.value { fields.append((name, value)) }
    }
    let answer = try send(fields, method: refusal.method, path: refusal.path, payload: refusal.payload)
    #expect(answer.reason == refusal.reason.rawValue)
    #expect(answer.status == "\(refusal.reason.status)")
    #expect(answer.fields[.apnsRequestID]?.isEmpty == false)
  }

  @Test func `a message reaches the streams of its channel and is answered with its id`() async throws {
    let (channel, other) = (try await channel(.none), try await channel(.none))
    let (receiver, stranger) = (Receiver(), Receiver())
    parts.liveChannels.join(channel, 1, receiver, loop: pair.loop)
    parts.liveChannels.join(other, 2, stranger, loop: pair.loop)
    let id = SampleRequest.id
    let answer = try send(try fields(channel) + [(.apnsRequestID, id)])
    #expect(answer.status == "200" && answer.body.isEmpty)
    #expect(answer.fields[.apnsRequestID] == id)
    #expect(answer.fields[.apnsUniqueID].flatMap { APNSID($0) } != nil)
    try pair.wait(.milliseconds(1))
    #expect(receiver.messages.map { "\($0.id)" } == [id])
    #expect(receiver.messages.map { String(decoding: $0.payload, as: UTF8.self) } == [Self.payload])
    #expect(receiver.messages.map(\.number) == [0])
    #expect(stranger.messages.isEmpty)
    // A retry reaches no stream again.
    #expect(try send(try fields(channel) + [(.apnsRequestID, id)]).status == "200")
    try pair.wait(.milliseconds(1))
    #expect(receiver.messages.count == 1)
  }

  /// The stream itself is notified later, on its loop, after its queued messages.
  @Test func `a device that left a channel gets nothing of it from that moment on`() async throws {
    let device = try await parts.registrations.enroll(name: "phone", person: "me").device
    let channel = try await channel(.none)
    _ = try await parts.channels.subscribe([device.id], to: channel)
    let (receiver, live) = (Receiver(), ChannelReceiver(device: device.id, shared, loop: pair.loop))
    live.begin(receiver, number: 1)
    for isSubscribed in [true, false] {
      #expect(try send(try fields(channel)).status == "200")
      try pair.wait(.milliseconds(1))
      let message = receiver.messages.popLast()
      #expect(live.takes(try #require(message), fromStorage: false) == isSubscribed)
      try await parts.channels.unsubscribe([device.id])
    }
    live.end()
  }

  @Test func `a channel that stores nothing takes no expiration, and another app's channel is unknown`() async throws {
    let storeless = try await channel(.none)
    var fields = try fields(storeless)
    fields.removeAll { $0.0 == .apnsExpiration }
    #expect(try send(fields + [(.apnsExpiration, "1800003600")]).reason == "BadExpirationDate")
    let other = try await parts.registrations.putApp(
      topic: "com.example.mail", name: "Mail", icon: "M", policyMode: .enforce)
    let foreign = try await channel(app: other.id)
    #expect(try send(try self.fields(foreign)).reason == "BadChannelId")
  }

  @Test func `an app may be kept from broadcasting, and a channel takes so many a second`() async throws {
    let channel = try await channel(.none)
    for _ in 0..<3 { #expect(try send(try fields(channel)).status == "200") }
    #expect(try send(try fields(channel)).reason == "TooManyRequests")
    clock.advance(seconds: 1)
    #expect(try send(try fields(channel)).status == "200")
    _ = try await parts.channels.setOn(false, app: app.id, now: clock.seconds * 1000)
    clock.advance(seconds: 1)
    #expect(try send(try fields(channel)).reason == parts.provider.broadcastFeatureReason.rawValue)
  }

  @Test func `channels are read and listed by their app alone`() async throws {
    let (first, second) = (try await channel(), try await channel(.none))
    let other = try await parts.registrations.putApp(
      topic: "com.example.mail", name: "Mail", icon: "M", policyMode: .enforce)
    let foreign = try await channel(app: other.id)
    let path = "/1/apps/" + Self.topic
    let sender = [try fields(first)[0]]
    let read = try send(
      sender + [(.apnsChannelID, second.description)], method: "GET", path: path + "/channels", payload: "")
    #expect(read.status == "200" && read.body == #"{"message-storage-policy":0,"push-type":"LiveActivity"}"#)
    let stranger = try send(
      sender + [(.apnsChannelID, foreign.description)], method: "GET", path: path + "/channels", payload: "")
    #expect(stranger.reason == "BadPath")
    let listed = parts.channels.channels(of: app.id, environment: .development).map(\.id)
    #expect(Set(listed) == [first, second])
  }

  @Test(
    arguments: [
      ("POST", "/channels", "", .payloadEmpty), ("POST", "/channels", "[]", .badRequestPayload),
      ("POST", "/channels", #"{"message-storage-policy":1}"#, .missingPushType),
      ("POST", "/channels", #"{"message-storage-policy":1,"push-type":"alert"}"#, .invalidPushType),
      ("POST", "/channels", #"{"push-type":"LiveActivity"}"#, .missingChannelQueueSize),
      ("POST", "/channels", #"{"push-type":"LiveActivity","message-storage-policy":2}"#, .badRequestParams),
      ("GET", "/channels", "", .missingChannelId), ("DELETE", "/channels", "", .missingChannelId),
      ("GET", "/channels/x", "", .badChannelId), ("GET", "/channels/" + unknownChannel, "", .badPath),
      ("PUT", "/channels", "{}", .methodNotAllowed), ("POST", "/all-channels", "{}", .methodNotAllowed),
      ("GET", "/nothing", "", .badPath), ("GET", "", "", .badPath),
    ] as [(String, String, String, Reason)])
  func `a request about channels that can't be has its reason`(
    _ method: String, _ path: String, _ payload: String, _ reason: Reason
  ) async throws {
    let sender = [try fields(try await channel())[0]]
    let answer = try send(sender, method: method, path: "/1/apps/" + Self.topic + path, payload: payload)
    #expect(answer.reason == reason.rawValue)
    #expect(answer.status == "\(reason.status)")
  }
}
