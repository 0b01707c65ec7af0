import GatewayProtocol
import HTTP2Transport
import PushCore
import PushStorage

/// The routes `/admin/v1/expectations…`: the heartbeats that are expected of senders.
struct ExpectationsAPI: Sendable {
  let schedule: Schedule
  let clock: WallClock

  var routes: [Router.Route] {
    let expectations = schedule.heartbeats.expectations
    return [
      .init("GET", .expectations, .reader) { request in
        let now = clock.milliseconds()
        let page = try ListsAPI.page(request, try await expectations.list(), \.sender)
        return Response(rows: page.map { ExpectationRecord($0, now: now) })
      },
      .init("POST", .expectations, .operator, add),
      .empty("DELETE", .expectation, .operator) { try await expectations.remove($0.parameters[0]) },
    ]
  }

  private func add(_ request: ControlRequest) async throws -> Response {
    let body: ExpectationRequest = try request.decoded()
    guard (1...Limits.maximumHeartbeatTime).contains(body.every) else {
      throw Problem.badRequest("invalid interval of heartbeats: expected 1 second to 366 days")
    }
    guard (0...Limits.maximumHeartbeatTime).contains(body.grace) else {
      throw Problem.badRequest("invalid grace of heartbeats: expected at most 366 days")
    }
    let now = clock.milliseconds()
    let expectation = Expectation(sender: body.sender, every: Int64(body.every), grace: Int64(body.grace), from: now)
    try await schedule.heartbeats.expectations.set(expectation)
    schedule.wake()
    return Response(ExpectationRecord(expectation, now: now), status: 201)
  }
}

extension ExpectationRecord {
  fileprivate init(_ expectation: Expectation, now: Int64) {
    self.init(
      sender: expectation.sender, every: Int(expectation.every), grace: Int(expectation.grace),
      last: expectation.beat.map { Timestamp.text($0) }, due: Timestamp.text(expectation.due),
      late: expectation.late != nil || expectation.due <= now)
  }
}
