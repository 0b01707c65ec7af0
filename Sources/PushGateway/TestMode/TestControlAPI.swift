import HTTP2Transport
import PushCore

/// The routes for the clock, the certificate and the report.
struct TestControlAPI: Sendable {
  let parts: GatewayParts
  let recorder: PushRecorder
  let clock: AdvancingClock
  let tls: TestTLS

  var routes: [TestRoute] {
    let now = TestRoute.Answer(status: 200, description: "the clock", schema: OpenAPI.reference("Clock"))
    return [
      TestRoute(
        method: "PUT", path: TestRoute.prefix + "/tls", summary: "Sets the certificate of the next connections",
        body: OpenAPI.reference("TLS"),
        answers: [.init(status: 200, description: "the certificate", schema: OpenAPI.reference("TLS"))],
        serve: { request in
          var body = try TestRequestBody(request)
          guard let certificate = try body.word("certificate", TestTLS.Certificate.self) else {
            throw TestRequestBody.problem("certificate", "is missing")
          }
          try body.end()
          try tls.use(certificate)
          return Response(["certificate": .string(certificate.rawValue)] as JSONValue)
        }),
      TestRoute(
        method: "GET", path: TestRoute.prefix + "/clock", summary: "The clock of the gateway", answers: [now],
        serve: { _ in clockAnswer }),
      TestRoute(
        method: "POST", path: TestRoute.prefix + "/clock", summary: "Advances or resets the clock",
        body: OpenAPI.reference("ClockRequest"), answers: [now], serve: setClock),
      TestRoute(
        method: "GET", path: TestRoute.prefix + "/report",
        summary: "The reaction of the sender to each refusal, and its mistakes",
        answers: [.init(status: 200, description: "the report", schema: OpenAPI.reference("Report"))],
        serve: { _ in Response(PushReport(recorder.view(of: nil)).json) }),
    ]
  }

  private var clockAnswer: Response {
    Response(
      ["now": .timestamp(parts.clock.milliseconds()), "offset": .integer(Int(clock.offset))] as JSONValue)
  }

  private func setClock(_ request: ControlRequest) async throws -> Response {
    var body = try TestRequestBody(request)
    let isReset = try body.boolean("reset") ?? false
    let time = try body.duration("advance", atMost: Double(AdvancingClock.maximum / 1000))
    try body.end()
    guard isReset != (time != nil) else {
      throw TestRequestBody.problem("advance", "expected a duration, or \"reset\": true")
    }
    if isReset { clock.reset() }
    if let time, !clock.advance(milliseconds: Int64(time / .milliseconds(1))) {
      throw TestRequestBody.problem("advance", "the clock can be ahead by at most a year: reset it first")
    }
    // The next maintenance would do this work some seconds later.
    parts.schedule.wake()
    await parts.maintain()
    return clockAnswer
  }
}
