import Foundation
import Testing

@Suite struct DeliverySimulationTests {
  /// Seeds that failed once. They are always run.
  private static let knownSeeds: [UInt64] = []

  /// The seeds of the run. `PUSHGATEWAY_SEED=7` runs that seed alone; `PUSHGATEWAY_SEEDS=100000` runs that many.
  private static var seeds: [UInt64] {
    let environment = ProcessInfo.processInfo.environment
    if let seed = environment["PUSHGATEWAY_SEED"].flatMap(UInt64.init) { return [seed] }
    return knownSeeds + Array(1...(environment["PUSHGATEWAY_SEEDS"].flatMap(UInt64.init) ?? 300))
  }

  @Test func `nothing accepted is lost, repeated or out of order, whatever fails`() {
    for seed in Self.seeds {
      let simulation = DeliverySimulation(seed: seed, isTraced: Self.seeds.count == 1)
      do {
        try simulation.run(steps: 400)
      } catch {
        Issue.record("seed \(seed): \(error); see its steps with PUSHGATEWAY_SEED=\(seed)")
        for line in simulation.trace { print(line) }
        return
      }
    }
  }
}
