import GatewayProtocol
import HTTP2Transport
import PushCore
import PushStorage

/// The routes `/admin/v1/groups…`: groups of users, with their own device tokens.
struct GroupsAPI: Sendable {
  let registrations: any Registrations
  let groups: Groups
  let pushes: Pushes
  let schedule: Schedule
  let environment: Environment
  let clock: WallClock

  var routes: [Router.Route] {
    [
      .init("GET", .groups, .reader) { request in
        Response(rows: try ListsAPI.page(request, groups.groups, \.name).map(summary))
      },
      .init("POST", .groups, .operator, add),
      .init("GET", .group, .reader) { request in
        Response(record(try group(request), topic: request.query["topic"]))
      },
      .empty("DELETE", .group, .admin, remove),
      .empty("DELETE", .groupMember, .operator) { request in
        let person = try registrations.person(named: request.parameters[1])
        try await groups.remove(person.id, from: try group(request))
      },
      .init("POST", .groupRegistrations, .operator, register),
      .empty("DELETE", .groupRegistration, .operator, unregister),
      .empty("DELETE", .groupAlert, .operator, retract),
    ]
  }

  private func group(_ request: ControlRequest) throws -> Groups.Group {
    try groups.group(named: request.parameters[0])
  }

  private func add(_ request: ControlRequest) async throws -> Response {
    let body: GroupRequest = try request.decoded()
    let persons = try body.members.map { try registrations.person(named: $0).id }
    if (try? registrations.device(named: body.name)) != nil {
      throw RegistrationRefusal(
        kind: .conflict, description: "there is a device \(body.name) already: choose another name for the group")
    }
    return Response(record(try await groups.add(body.name, persons)), status: 201)
  }

  private func remove(_ request: ControlRequest) async throws {
    let group = try group(request)
    try await groups.remove(group, now: clock.milliseconds())
    try await schedule.purge(Environment.allCases.map(group.address))
  }

  private func register(_ request: ControlRequest) async throws -> Response {
    let body: RegistrationRequest = try request.decoded()
    let app = try registrations.app(topic: body.topic)
    let environment = body.environment.flatMap(Environment.init) ?? self.environment
    return Response(
      record(try await groups.register(try group(request), app: app.id, environment: environment)))
  }

  private func unregister(_ request: ControlRequest) async throws {
    let (group, app) = (try group(request), try registrations.app(topic: request.parameters[1]))
    try await groups.unregister(group, app: app.id, now: clock.milliseconds())
    try await schedule.purge(Environment.allCases.map(group.address), app: app.id)
  }

  /// Retracts an alert of a group. The query item `topic` names its app.
  private func retract(_ request: ControlRequest) async throws {
    let text = request.parameters[1]
    guard let id = APNSID(text) else { throw Problem.badRequest("invalid apns-id \"\(text)\": expected a UUID") }
    guard let topic = request.query["topic"] else { throw Problem.badRequest("missing app: add ?topic=TOPIC") }
    let (group, app) = (try group(request), try registrations.app(topic: topic))
    for address in Environment.allCases.map(group.address) {
      _ = try await pushes.retract(
        id, of: app.id, fromGroup: address, by: request.administrator?.shown ?? "an administrator")
    }
  }

  // MARK: Records

  private func summary(_ group: Groups.Group) -> GroupSummary {
    GroupSummary(
      name: group.name, members: group.members.count,
      topics: groups.registrations(of: group).compactMap { registrations.app($0.app)?.topic }.sorted()
    )
  }

  private func record(_ group: Groups.Group, topic: String? = nil) -> GroupRecord {
    let members = group.members.compactMap { id -> GroupRecord.Member? in
      guard let person = registrations.person(id) else { return nil }
      let devices = registrations.devices(of: id).filter { device in
        guard let topic else { return true }
        return registrations.registrations(of: device).contains {
          topic == $0.1.topic || topic.hasPrefix($0.1.topic + ".")
        }
      }
      return GroupRecord.Member(person: person.name, devices: devices.compactMap { registrations.device($0)?.name })
    }
    return GroupRecord(
      name: group.name, members: members, registrations: groups.registrations(of: group).map(record))
  }

  private func record(_ registration: Registration) -> RegistrationRecord {
    RegistrationRecord(
      token: registration.token.hex, topic: registrations.app(registration.app)?.topic ?? "",
      environment: registration.environment.rawValue)
  }
}

/// A group as lists show it.
struct GroupSummary: Codable, Sendable {
  var name: String
  /// The number of members.
  var members: Int
  /// The apps for which the group is registered.
  var topics: [String]
}
