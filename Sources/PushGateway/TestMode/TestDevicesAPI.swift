import GatewayProtocol
import HTTP2Transport
import PushCore
import PushPolicy
import PushStorage

/// The routes for the devices and tokens of tests.
struct TestDevicesAPI: Sendable {
  let parts: GatewayParts
  let recorder: PushRecorder
  /// Adds apps and devices.
  let firstUse: FirstUse
  let devices: VirtualDevices
  let faults: FaultTable

  var routes: [TestRoute] {
    [
      TestRoute(
        method: "POST", path: TestRoute.prefix + "/devices", summary: "Adds a device with a token",
        body: OpenAPI.reference("DeviceRequest"),
        answers: [
          .init(status: 201, description: "the device", schema: OpenAPI.reference("Device")),
          .init(status: 409, description: "the token, the name or a channel is in use"),
        ], serve: addDevice),
      TestRoute(
        method: "DELETE", path: TestRoute.prefix + "/devices/{token}",
        summary: "Removes a device: its token answers 410 Unregistered",
        answers: [.init(status: 204, description: "removed"), TestDevicesAPI.unknownToken],
        serve: { request in
          let registration = try self.registration(request)
          faults.clear(of: registration.token.hex)
          try await parts.devices.remove(registration.device)
          return .noContent
        }),
      TestRoute(
        method: "POST", path: TestRoute.prefix + "/devices/{token}/answer", summary: "Answers a push as its user",
        body: OpenAPI.reference("AnswerRequest"),
        answers: [
          .init(status: 200, description: "the answer that counts", schema: OpenAPI.reference("Answer")),
          TestDevicesAPI.unknownToken, .init(status: 409, description: "the push has no such action"),
        ], serve: answer),
      TestRoute(
        method: "PUT", path: TestRoute.prefix + "/tokens/{token}", summary: "Sets the state of a token",
        body: OpenAPI.reference("TokenRequest"),
        answers: [.init(status: 200, description: "the state", schema: OpenAPI.reference("Token"))], serve: setToken),
      TestRoute(
        method: "PUT", path: TestRoute.prefix + "/tokens/{token}/faults",
        summary: "Sets the faults of a token, in place of its earlier faults and its state",
        body: OpenAPI.reference("FaultsRequest"),
        answers: [.init(status: 200, description: "the faults", schema: OpenAPI.reference("Faults"))],
        serve: setFaults),
    ]
  }

  private static let unknownToken = TestRoute.Answer(status: 404, description: "no device has the token")

  /// The topic of a device without one.
  private static let standardTopic = "com.example.app"

  private func token(_ text: String) throws(Problem) -> DeviceToken {
    guard let token = DeviceToken(hex: Array(text.utf8).span) else {
      throw TestRequestBody.problem("token", "expected a device token of 64 hex digits")
    }
    return token
  }

  /// Returns the registration of the token in the path.
  private func registration(_ request: ControlRequest) throws(Problem) -> Registration {
    let token = try token(request.parameters[0])
    guard let (registration, _) = parts.registrations.registration(token) else {
      throw .notFound("no device has the token \(token.hex): add one with POST \(TestRoute.prefix)/devices")
    }
    return registration
  }

  private func addDevice(_ request: ControlRequest) async throws -> Response {
    var body = try TestRequestBody(request)
    let topic = try body.text("topic") ?? TestDevicesAPI.standardTopic
    guard Topic.isWellFormed(topic.utf8) else {
      throw TestRequestBody.problem("topic", "expected an app's bundle id, as com.example.app")
    }
    let token = try body.text("token").map { text throws(Problem) in try self.token(text) } ?? DeviceToken.random()
    let name = try body.text("name")
    let preferences = try body.object("preferences").map { members throws(Problem) in
      try TestDevicesAPI.preferences(members)
    }
    let channels = try TestDevicesAPI.channels(&body)
    try body.end()
    try await firstUse.addApp(topic)
    try await addChannels(channels, of: topic)
    let device = try await firstUse.addDevice(
      token, name: name, topic: topic, environment: parts.environment, preferences: preferences)
    // Connected afterwards, the device gets each broadcast from the answer on.
    for channel in channels { try await parts.broadcasts.subscribe([device], to: channel) }
    await devices.connect(device.id)
    return Response(
      [
        "token": .string(token.hex), "topic": .string(topic), "device": .string(device.name),
        "user": .string(device.name),
      ] as JSONValue, status: 201)
  }

  /// Reads the ids of channels, without repetitions.
  private static func channels(_ body: inout TestRequestBody) throws(Problem) -> [ChannelID] {
    var ids: Set<ChannelID> = []
    for text in try body.texts("channels", atMost: Limits.maximumDeviceChannels) ?? [] {
      guard let id = ChannelID(text.utf8) else {
        throw TestRequestBody.problem("channels", "expected ids as in apns-channel-id: 16 bytes in base64")
      }
      ids.insert(id)
    }
    return Array(ids)
  }

  /// Adds the channels of an app that do not exist. They accept broadcasts with and without an expiration.
  private func addChannels(_ ids: [ChannelID], of topic: String) async throws {
    if ids.isEmpty { return }
    let (app, environment) = (try parts.registrations.app(topic: topic), parts.environment)
    func conflict(_ detail: String) -> Problem { Problem(409, "Conflict", detail, field: "channels") }
    do {
      try await parts.channels.create(
        ids, app: app.id, environment: environment, policy: .mostRecentMessage, now: parts.clock.milliseconds())
    } catch Channels.Failure.full {
      throw conflict("\(topic) has the maximum number of channels: delete some with `pushcli channels delete`")
    } catch Channels.Failure.off {
      throw conflict("\(topic) may not broadcast: `pushcli channels enable \(topic)` permits it")
    }
    for id in ids where (try? parts.channels.channel(id, app: app.id, environment: environment)) == nil {
      throw conflict("the channel \(id) belongs to another app or environment, or was deleted: use another id")
    }
  }

  /// Reads preferences in their exact form.
  private static func preferences(_ members: [String: JSONValue]) throws(Problem) -> Preferences {
    let json = controlJSON(JSONValue.object(members))
    let error = (try? JSONParser().parse(json.span) { Preference.Scope.everything.error(in: $0) }) ?? nil
    if let error { throw TestRequestBody.problem("preferences", error) }
    guard let preferences = try? decodeJSON(Preferences.self, from: json) else {
      throw TestRequestBody.problem("preferences", "expected the JSON of `pushcli prefs show --json`")
    }
    return preferences
  }

  private func answer(_ request: ControlRequest) async throws -> Response {
    let registration = try registration(request)
    var body = try TestRequestBody(request)
    guard let action = try body.text("action") else { throw TestRequestBody.problem("action", "is missing") }
    let text = try body.text("id")
    try body.end()
    let newest = recorder.view(of: registration.token.hex).pushes.last { push in
      push.outcome == .accepted && push.events.contains { $0.event == .transmitted }
    }
    guard let id = text.map({ APNSID($0) }) ?? newest?.id else {
      throw Problem.notFound("no push was delivered to the token \(registration.token.hex)")
    }
    guard let device = parts.registrations.device(registration.device),
      let push = try await parts.pushes.find(id, sentTo: device.id)
    else { throw Problem.notFound("the push \(id) was not delivered to the token \(registration.token.hex)") }
    let outcome: String? = try await withCheckedThrowingContinuation { continuation in
      parts.pushes.answer(push, action, by: device, on: nil, at: parts.clock.milliseconds()) {
        continuation.resume(with: $0)
      }
    }
    guard let counting = outcome else {
      throw Problem(409, "Conflict", "the push \(id) has no action \"\(action.prefix(64))\"", field: "action")
    }
    return Response(["id": .string(id.description), "action": .string(counting)] as JSONValue)
  }

  private func setToken(_ request: ControlRequest) async throws -> Response {
    let token = try token(request.parameters[0])
    var body = try TestRequestBody(request)
    guard let state = try body.word("state", TokenState.self) else {
      throw TestRequestBody.problem("state", "is missing")
    }
    var rule = FaultRule(name: state.rawValue)
    rule.token = token.hex
    rule.count = try body.integer("count", in: 1...1_000_000)
    rule.seconds = try body.duration("for", atMost: 86_400).map { $0 / .seconds(1) }
    let retryAfter = try body.integer("retry-after", in: 1...86_400)
    try body.end()
    guard retryAfter == nil || state == .throttled || state == .unavailable else {
      throw TestRequestBody.problem("retry-after", "only the states throttled and unavailable have it: omit it")
    }
    rule.retryAfter = retryAfter ?? state.retryAfter
    rule.reason = state.reason?.rawValue
    if state == .acceptedAndDropped { rule.status = 200 }
    do throws(FaultError) {
      let list = try state == .registered ? [] : [Fault(rule)]
      try faults.set(list, of: token.hex, now: parts.clock.milliseconds())
    } catch {
      throw Problem.badRequest(error.description)
    }
    return Response(["token": .string(token.hex), "state": .string(state.rawValue)] as JSONValue)
  }

  private func setFaults(_ request: ControlRequest) async throws -> Response {
    let token = try token(request.parameters[0])
    var body = try TestRequestBody(request)
    let list = try TestFaults.list(&body, token: token.hex)
    do throws(FaultError) {
      try faults.set(list, of: token.hex, now: parts.clock.milliseconds())
    } catch {
      throw TestRequestBody.problem("faults", error.description)
    }
    let records = list.map { ["name": .string($0.rule.name), "does": .string($0.words)] as JSONValue }
    return Response(["token": .string(token.hex), "faults": .array(records)] as JSONValue)
  }
}
