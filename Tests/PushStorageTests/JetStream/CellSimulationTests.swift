import Foundation
import NATSClient
import NATSTesting
import Testing

@testable import PushStorage

/// The mailbox of a cell over a model of the engine that delays, repeats, reorders and loses.
///
/// A seed gives the same run with `SWIFT_DETERMINISTIC_HASHING=1`: what is looked at in the order of a set is then, too.
@Suite(.timeLimit(.minutes(5))) struct CellSimulationTests {
  /// `PUSHGATEWAY_SEED=7` runs that seed alone; `PUSHGATEWAY_SEEDS` runs a hundredth of so many, since each takes longer than
  /// one of a gateway alone.
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

  /// What is wrong with an engine or a gateway on purpose.
  enum Plant: CaseIterable {
    /// The engine knows no message by its id.
    case forgetsIDs
    /// The engine acknowledges what it has not stored.
    case losesWrites
    /// The engine says that something is gone, and has it.
    case keepsDeleted
    /// The gateway takes an answer that does not come for a refusal.
    case takesSilenceForRefusal
    /// The gateway takes every acknowledgement of a push for the first.
    case overlooksDuplicates
    /// The gateway acknowledges more than the device did.
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
