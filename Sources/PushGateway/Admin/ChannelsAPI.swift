import GatewayProtocol
import HTTP2Transport
import PushCore
import PushStorage

/// The routes `/admin/v1/channels…`: broadcast channels and their subscriptions (APNs reference §8.2).
struct ChannelsAPI: Sendable {
  let registrations: any Registrations
  let channels: Channels
  let broadcasts: Broadcasts
  let presence: ClusterPresence
  let environment: Environment
  let clock: WallClock

  var routes: [Router.Route] {
    [
      .init("GET", .channels, .reader, list),
      .init("POST", .channels, .operator, create),
      .init("POST", .channelFeatures, .operator, setFeature),
      .empty("DELETE", .channel, .operator) { try await broadcasts.delete(try channel($0).id) },
      .init("POST", .channelSubscriptions, .operator, subscribe),
      .empty("DELETE", .channelSubscription, .operator) { request in
        let device = try registrations.device(named: request.parameters[1])
        try await broadcasts.unsubscribe(device.id, from: try channel(request).id)
      },
      .init("GET", .deviceChannels, .reader) { request in
        let device = try registrations.device(named: request.parameters[0])
        let ids = channels.subscriptions(of: device.id).map(\.channel)
        return Response(rows: try ListsAPI.page(request, await records(ids), \.id))
      },
    ]
  }

  /// Returns the channel in a request's path.
  func channel(_ request: ControlRequest) throws -> BroadcastChannel {
    guard let id = ChannelID(request.parameters[0].utf8), let channel = channels.channel(id),
      channel.deleted == nil
    else { throw Problem.notFound("there is no channel \(request.parameters[0]): `pushcli channels list` shows them") }
    return channel
  }

  private func list(_ request: ControlRequest) async throws -> Response {
    let apps =
      try request.query["app"].map { [try registrations.app(topic: $0)] } ?? registrations.apps
    let found = apps.flatMap { app in
      [Environment.development, .production].flatMap { channels.channels(of: app.id, environment: $0) }
    }
    return Response(rows: await records(try ListsAPI.page(request, found, \.id.description).map(\.id)))
  }

  private func create(_ request: ControlRequest) async throws -> Response {
    let body: ChannelRequest = try request.decoded()
    let app = try registrations.app(topic: body.topic)
    guard let policy = BroadcastChannel.StoragePolicy(rawValue: body.storagePolicy) else {
      throw Problem.badRequest("invalid storage policy: expected 0 or 1")
    }
    try Problem.check(body.count, 1...Limits.maximumChannels, "number of channels", of: "in a request")
    let environment = body.environment.flatMap(Environment.init) ?? self.environment
    do {
      let made = try await channels.create(
        body.count, app: app.id, environment: environment, policy: policy, now: clock.milliseconds())
      return Response(await records(made), status: 201)
    } catch Channels.Failure.full {
      throw Problem(409, "Conflict", "an app has at most \(Limits.maximumChannels) channels in each environment")
    } catch Channels.Failure.off {
      throw Problem(409, "Conflict", "\(app.topic) may not broadcast: `pushcli channels enable \(app.topic)`")
    }
  }

  private func setFeature(_ request: ControlRequest) async throws -> Response {
    let body: BroadcastFeature = try request.decoded()
    let app = try registrations.app(topic: body.topic)
    try await broadcasts.setOn(body.isOn, app: app.id)
    return Response(body)
  }

  private func subscribe(_ request: ControlRequest) async throws -> Response {
    let body: ChannelSubscriptionRequest = try request.decoded()
    var devices = try body.devices.map { try registrations.device(named: $0) }
    if let batch = body.batch {
      let found = registrations.devices.filter { $0.name.hasPrefix(batch + "-") }
      guard !found.isEmpty else {
        throw Problem.notFound("no device has a name that begins with \(batch)-: `pushcli devices` shows them")
      }
      devices += found
    }
    let channel = try channel(request)
    try await broadcasts.subscribe(devices, to: channel.id)
    guard let record = await records([channel.id]).first else { throw Problem.notFound("this channel was deleted") }
    return Response(record)
  }

  private func records(_ ids: [ChannelID]) async -> [ChannelRecord] {
    let found = ids.compactMap { channels.channel($0) }
    let streams = await presence.streams(of: found.map(\.id))
    return zip(found, streams).map(record)
  }

  private func record(_ channel: BroadcastChannel, streams: Int) -> ChannelRecord {
    ChannelRecord(
      id: channel.id.description, topic: registrations.app(channel.app)?.topic ?? "",
      environment: channel.environment.rawValue, storagePolicy: channel.policy.rawValue,
      subscriptions: channel.subscriptions, connected: streams,
      published: Int(channel.lastNumber), isStored: channel.message != nil)
  }
}
