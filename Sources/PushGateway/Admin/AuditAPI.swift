import GatewayProtocol
import HTTP2Transport
import PushCore
import PushPolicy
import PushStorage

/// The audit trail of administrators' requests, recorded before execution, and its route.
struct AuditAPI: Sendable {
  let audit: AuditTrail
  let clock: WallClock

  /// The maximum and default number of records in a response.
  private static let maximumCount = 1_000

  var routes: [Router.Route] {
    [
      .init("GET", .audit, .reader) { request in
        let limit = request.query["limit"].flatMap(Int.init) ?? AuditAPI.maximumCount
        let records = try await audit.records(
          before: request.query["before"].flatMap(Int64.init), limit: min(AuditAPI.maximumCount, max(1, limit)))
        return Response(records.map(AuditRecord.init))
      }
    ]
  }

  /// Returns a route that records every request before it executes it; a route that only reads is returned unchanged.
  func audited(_ route: Router.Route) -> Router.Route {
    guard route.method != "GET" else { return route }
    var audited = route
    audited.serve = { request in
      let number = try await audit.record(
        request.method, request.path, body: AuditedBody(request.body).bytes, by: request.administrator?.shown,
        at: clock.milliseconds())
      do {
        let response = try await route.serve(request)
        await audit.note(status: response.status, of: number)
        return response
      } catch {
        await audit.note(status: (Problem(error) ?? .failure).status, of: number)
        throw error
      }
    }
    return audited
  }
}

extension AuditRecord {
  init(_ record: AuditTrail.Record) {
    self.init(
      number: record.number, at: Timestamp.text(record.at), method: record.method, path: record.path,
      body: record.body.isEmpty ? nil : record.body, status: record.status, who: record.who)
  }
}
