import GatewayClient
import GatewayProtocol
import PushCore
import Testing

@testable import pushcli

@Suite struct GatewayWaysTests {
  private static func address(_ port: Int) -> GatewayAddress { GatewayAddress(host: "gateway.example", port: port) }

  private func context(_ address: Int?, others: [Int] = []) -> GatewayContext {
    GatewayContext(
      name: "one", folder: StateFolder("/none"), address: address.map(GatewayWaysTests.address),
      others: others.map(GatewayWaysTests.address))
  }

  private func ways(
    _ context: GatewayContext, reported: [Int] = [], bearer: String? = nil, secret: String? = nil
  ) -> [[String]] {
    GatewayWays(context, reported: reported.map(GatewayWaysTests.address), bearer: bearer, secret: secret).all.map {
      way in
      [way.address.map { "\($0.port)" } ?? "socket", way.secret ?? "-", way.isAdministered ? "all" : "own"]
    }
  }

  @Test func `the own gateway comes first, and each other one once with each credential`() {
    #expect(ways(context(nil)) == [["socket", "-", "all"]])
    // Without a credential no other gateway answers.
    #expect(ways(context(nil, others: [2]), reported: [3]) == [["socket", "-", "all"]])
    #expect(
      ways(context(nil, others: [2, 3]), reported: [3], secret: "device")
        == [["socket", "-", "all"], ["3", "device", "own"], ["2", "device", "own"]])
    #expect(
      ways(context(1, others: [2, 1]), reported: [2], bearer: "token", secret: "device")
        == [["1", "token", "all"], ["1", "device", "own"], ["2", "token", "all"], ["2", "device", "own"]])
    #expect(ways(context(1)).isEmpty)
  }

  @Test func `after a failure the next one is used, and after the last the first`() {
    var ways = GatewayWays(context(1), reported: [2, 3].map(GatewayWaysTests.address), bearer: "token", secret: nil)
    var ports: [Int?] = []
    for _ in 0..<4 {
      ports.append(ways.way?.address?.port)
      ways.leave(ways.current)
    }
    #expect(ports == [1, 2, 3, 1])
    // Two requests that failed at the same gateway leave it once.
    ways.leave(0)
    #expect(ways.current == 1)
  }

  @Test func `requests of an administrator take no way of a device`() {
    let ways = GatewayWays(context(nil), reported: [GatewayWaysTests.address(2)], bearer: "token", secret: "device")
    #expect(ways.all.map(\.isAdministered) == [true, true, false])
    #expect(ways.administered.all.map(\.secret) == [nil, "token"])
  }

  @Test(arguments: [
    // The failure, and whether it passes at the own gateway and at another one.
    (CommandFailure(.failed, status: 503), true, true), (CommandFailure(.unreachable), true, true),
    (CommandFailure(ClientError(.untrusted, "")), false, true),
    (CommandFailure(ClientError(.misconfigured, "")), false, true),
    (CommandFailure(.notAuthorized, status: 401), false, true),
    (CommandFailure(.notAuthorized, status: 403), false, true),
    (CommandFailure(.suppressed, status: 404), false, false), (CommandFailure(.usage, status: 400), false, false),
    (CommandFailure(.failed, "an error"), false, false),
  ]) func `what another gateway may answer is asked again`(_ failure: CommandFailure, _ own: Bool, _ other: Bool) {
    let ways = GatewayWays(context(1), reported: [GatewayWaysTests.address(2)], bearer: "token", secret: nil)
    #expect(ways.isPassing(failure, at: 0) == own)
    #expect(ways.isPassing(failure, at: 1) == other)
  }
}
