import Synchronization
import Testing

@testable import PushGateway

@Suite(.timeLimit(.minutes(5))) struct CellRouterTests {
  @Test(arguments: [1, 2], RouterConformance.checks.map(\.name))
  func `the routers of a cell do what every router does`(_ gateways: Int, _ name: String) async throws {
    try await RouterConformance.run(name, on: CellRouters(gateways: gateways))
  }

  @Test(arguments: FaultyRouter.Fault.allCases)
  func `a fault that is planted in a cell is found out`(_ fault: FaultyRouter.Fault) async throws {
    let found = Mutex(0)
    try await withKnownIssue(isIntermittent: true) {
      let router = FaultyRouter(fault, CellRouters(gateways: 2))
      try await RouterConformance.run(fault.finder, on: router, timeLimit: .milliseconds(200))
    } matching: { _ in
      found.withLock { $0 += 1 }
      return true
    }
    #expect(found.withLock { $0 } > 0)
  }
}
