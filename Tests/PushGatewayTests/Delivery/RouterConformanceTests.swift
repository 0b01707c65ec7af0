import Synchronization
import Testing

@testable import PushGateway

@Suite(.timeLimit(.minutes(5))) struct RouterConformanceTests {
  @Test(arguments: RouterConformance.checks.map(\.name))
  func `the registry does what every router does`(_ name: String) async throws {
    try await RouterConformance.run(name, on: DeviceStreamRegistry())
  }

  @Test func `each check has a fault to find`() {
    #expect(Set(FaultyRouter.Fault.allCases.map(\.finder)) == Set(RouterConformance.checks.map(\.name)))
  }

  @Test(arguments: FaultyRouter.Fault.allCases)
  func `a fault that is planted is found out`(_ fault: FaultyRouter.Fault) async throws {
    let found = Mutex(0)
    try await withKnownIssue(isIntermittent: true) {
      try await RouterConformance.run(fault.finder, on: FaultyRouter(fault), timeLimit: .milliseconds(200))
    } matching: { _ in
      found.withLock { $0 += 1 }
      return true
    }
    #expect(found.withLock { $0 } > 0)
  }
}
