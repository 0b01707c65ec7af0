import PushTesting
import Testing

@testable import GatewayClient
@testable import GatewayProtocol
@testable import HTTP2Transport
@testable import PushCore
@testable import PushGateway
@testable import PushStorage

/// The figures of the last hour for the charts of the console.
@Suite(.timeLimit(.minutes(5))) struct MetricsHistoryTests {
  private func reading(_ accepted: UInt64) -> MetricsReading {
    MetricsReading(
      at: "", accepted: accepted, delivered: 0, refused: 0, pending: 0, connections: 0, bounds: [], counts: [0])
  }

  @Test func `readings older than an hour are removed`() {
    let history = MetricsHistory()
    for minute in 0...90 { history.add(reading(UInt64(minute)), at: Int64(minute) * 60_000) }
    #expect(history.all.map(\.accepted) == Array(30...90))
  }

  @Test func `readings after the time of a clock that was set back are removed`() {
    let history = MetricsHistory()
    for minute in [10, 11, 5] as [Int64] { history.add(reading(UInt64(minute)), at: minute * 60_000) }
    #expect(history.all.map(\.accepted) == [5])
  }

  @Test func `a reading is noted each minute with the sums of the metrics`() async throws {
    try await TestGateway.run { gateway in
      let device = try await gateway.enroll()
      let client = try await gateway.client()
      let history = MetricsHistory()
      history.note(gateway.meters)
      #expect(try await gateway.push(client, to: device.token).status == 200)
      gateway.clock.advance(seconds: 59)
      history.note(gateway.meters)
      #expect(history.all.count == 1)
      gateway.clock.advance(seconds: 1)
      history.note(gateway.meters)
      #expect(history.all.map(\.accepted) == [0, 1])
      let last = try #require(history.all.last)
      #expect(last.connections > 0)
      #expect(last.counts.count == last.bounds.count + 1)
    }
  }

  @Test func `the route has the readings`() async throws {
    try await TestGateway.run { gateway in
      let answer = try await gateway.client().request("GET", AdminPath.metricsHistory(), [])
      #expect(answer.status == 200)
      #expect(String(decoding: answer.body, as: UTF8.self) == "[]")
    }
  }
}
