import GatewayProtocol
import HTTP2Transport
import PushCore
import PushStorage

/// The routes `/admin/v1/scheduled`: scheduled pushes. Their texts are not returned, since only the device may read
/// them.
struct ScheduleAPI: Sendable {
  let registrations: any Registrations
  let groups: Groups
  let schedule: Schedule

  var routes: [Router.Route] {
    [
      .init("GET", .scheduled, .reader, list),
      .empty("DELETE", .scheduledPush, .operator) { request in
        let text = request.parameters[0]
        guard let id = APNSID(text) else { throw Problem.badRequest("invalid apns-id \"\(text)\": expected a UUID") }
        guard try await schedule.cancel(id) > 0 else {
          throw Problem.notFound("no push \(text) is scheduled: `pushcli log \(text)` shows its delivery status")
        }
      },
    ]
  }

  /// Lists pushes, the earliest first; `after` is `AT-NUMBER` of the last row of the previous page.
  private func list(_ request: ControlRequest) async throws -> Response {
    let limit = min(Limits.maximumListPage, max(1, request.query["limit"].flatMap(Int.init) ?? Limits.maximumListPage))
    let numbers = (request.query["after"] ?? "").split(separator: "-").compactMap { Int64($0) }
    let after = numbers.count == 2 ? ScheduledPushes.Position(at: numbers[0], number: numbers[1]) : nil
    let rows = try await schedule.pushes.list(after: after, limit: limit)
    return Response(
      rows: rows.map { row in
        ScheduledRecord(
          id: row.push.id.description, at: Timestamp.text(row.push.at),
          device: groups.group(at: row.push.device)?.name ?? registrations.device(row.push.device)?.name,
          topic: registrations.app(row.push.app)?.topic,
          accepted: Timestamp.text(row.push.received), place: "\(row.push.at)-\(row.number)")
      })
  }
}
