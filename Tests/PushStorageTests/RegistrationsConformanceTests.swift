import PushTesting
import Synchronization
import Testing

@testable import PushStorage

/// A storage backend of the registrations for tests. Every check of ``RegistrationsConformance`` runs on each.
struct RegistrationsHome: Sendable, CustomTestStringConvertible {
  let testDescription: String
  /// Opens new registrations.
  let open: @Sendable () async throws -> RegistrationsConformance

  static let all = [sqlite(.full), sqlite(.normal), memory(), replicas()]

  static func sqlite(_ durability: Durability) -> RegistrationsHome {
    RegistrationsHome(testDescription: "SQLite \(durability)") {
      let folder = try TemporaryFolder()
      let open: @Sendable () throws -> any Registrations = {
        try SQLiteRegistrations(store: try SQLiteStore(path: folder.file("push.sqlite"), durability: durability))
      }
      return RegistrationsConformance(registrations: try open(), reopened: open)
    }
  }

  /// Two replicas of a cluster. Opened again, they are two new replicas.
  static func replicas() -> RegistrationsHome {
    RegistrationsHome(testDescription: "two replicas") {
      let log = MemoryReplicationLog()
      let folder = try TemporaryFolder()
      let number = Atomic<Int>(0)
      let open: @Sendable () async throws -> any Registrations = {
        let stores = try (0..<2).map { _ in
          try SQLiteStore(
            path: folder.file("\(number.add(1, ordering: .relaxed).newValue).sqlite"), durability: .normal)
        }
        return try await TwoReplicas.open(log, stores)
      }
      return RegistrationsConformance(registrations: try await open(), reopened: open)
    }
  }

  static func memory(_ fault: MemoryRegistrations.Fault? = nil) -> RegistrationsHome {
    RegistrationsHome(testDescription: "memory") {
      let registrations = MemoryRegistrations(fault: fault)
      return RegistrationsConformance(registrations: registrations, reopened: { registrations.reopened() })
    }
  }
}

@Suite(.timeLimit(.minutes(5))) struct RegistrationsConformanceTests {
  @Test(arguments: RegistrationsHome.all, RegistrationsConformance.checks.map(\.name))
  func `it does what every home of the registrations does`(_ home: RegistrationsHome, _ name: String) async throws {
    try await RegistrationsConformance.run(name, on: home)
  }

  @Test func `each check has a fault to find`() {
    #expect(Set(MemoryRegistrations.Fault.allCases.map(\.finder)) == Set(RegistrationsConformance.checks.map(\.name)))
  }

  @Test(arguments: MemoryRegistrations.Fault.allCases)
  func `a fault that is planted is found out`(_ fault: MemoryRegistrations.Fault) async throws {
    let found = Mutex(0)
    try await withKnownIssue(isIntermittent: true) {
      try await RegistrationsConformance.run(fault.finder, on: .memory(fault))
    } matching: { _ in
      found.withLock { $0 += 1 }
      return true
    }
    #expect(found.withLock { $0 } > 0)
  }
}
