import Foundation
import NATSClient
import NATSTesting
import Testing

@testable import PushStorage

/// The mailbox of a cluster on a model of JetStream that delays, repeats, reorders and loses messages.
///
/// With `SWIFT_DETERMINISTIC_HASHING=1` a seed determines the run: without it, the iteration order of sets differs.
@Suite(.timeLimit(.minutes(5))) struct CellSimulationTests {
  /// The seeds of the run. `PUSHGATEWAY_SEED=7` runs that seed alone; `PUSHGATEWAY_SEEDS` runs a hundredth of that
  /// number, because each takes longer than one of a single gateway.
  private static var seeds: [UInt64] {
    let environment = ProcessInfo.processInfo.environment
    if let seed = environment["PUSHGATEWAY_SEED"].flatMap(UInt64.init) { return [seed] }
    return Array(1...max(20, (environment["PUSHGATEWAY_SEEDS"].flatMap(UInt64.init) ?? 0) / 100))
  }

  @Test func `nothing is lost, repeated or brought back by an engine that fails`() async throws {
    var accepted = 0
    for seed in Self.seeds {
      let simulation = CellSimulation(seed: seed)
      do { try await simulation.run() } catch {
        Issue.record("seed \(seed): \(error); again with SWIFT_DETERMINISTIC_HASHING=1 PUSHGATEWAY_SEED=\(seed)")
      }
      accepted += simulation.accepted
    }
    #expect(accepted > 50 * Self.seeds.count)
  }

  @Test func `an engine that does not fail loses nothing either`() async throws {
    for seed in UInt64(1)...10 {
      let simulation = CellSimulation(seed: seed, CellSimulation.Plan(faults: .none))
      do { try await simulation.run() } catch { Issue.record("seed \(seed): \(error)") }
    }
  }

  /// An injected fault of the model or of a gateway.
  enum Plant: CaseIterable {
    /// The model does not recognize duplicates by their ids.
    case forgetsIDs
    /// The model acknowledges messages that it has not stored.
    case losesWrites
    /// The model confirms deletions that it has not done.
    case keepsDeleted
    /// The gateway treats a timeout as a refusal.
    case takesSilenceForRefusal
    /// The gateway treats every confirmation of a publish as that of a new message.
    case overlooksDuplicates
    /// The gateway acknowledges more pushes than the device did.
    case acknowledgesTooMuch

    var plan: CellSimulation.Plan {
      var plan = CellSimulation.Plan()
      switch self {
      case .forgetsIDs: plan.faults.forgetsIDs = true
      case .losesWrites: plan.faults.lostWrites = 0.02
      case .keepsDeleted: plan.faults.keepsDeleted = 0.05
      case .takesSilenceForRefusal:
        plan.transport = { link in
          FaultyTransport(
            link,
            answer: { _, answer in
              guard case .failure(.timedOut) = answer else { return answer }
              return .failure(.noResponders)
            })
        }
      case .overlooksDuplicates:
        plan.transport = { link in
          FaultyTransport(
            link,
            answer: { _, answer in
              guard case .success(var message) = answer else { return answer }
              message.body = Array(
                String(decoding: message.body, as: UTF8.self).replacing(#""duplicate":true,"#, with: "").utf8)
              return .success(message)
            })
        }
      case .acknowledgesTooMuch: plan.acknowledges = { $0 + 2 }
      }
      return plan
    }
  }

  @Test(arguments: Plant.allCases) func `what is planted is found`(_ plant: Plant) async throws {
    for seed in UInt64(1)...200 {
      do { try await CellSimulation(seed: seed, plant.plan).run() } catch is CellLedger.Violation { return }
    }
    Issue.record("\(plant) was not found")
  }
}
