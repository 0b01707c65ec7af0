import GRDB
import PushTesting
import Testing

@testable import PushCore
@testable import PushGateway
@testable import PushStorage

/// The outcome of a retraction for its sender.
@Suite(.timeLimit(.minutes(5))) struct RetractionOutcomeTests {
  @Test func `an unreadable delivery log is no evidence that a push is unknown`() async throws {
    try await TestGateway.run { gateway in
      let device = try await gateway.enroll()
      let person = try #require(gateway.registrations.device(device.id)).person
      func retract(_ number: Int) async throws -> Pushes.RetractionOutcome {
        try await gateway.parts.pushes.retract(.number(number), of: nil, from: [person], by: "test")
      }
      #expect(try await retract(1) == .unknown)
      let log = try DatabaseQueue(path: gateway.folder.file("log.sqlite"))
      try await log.write { try $0.execute(sql: "ALTER TABLE batch RENAME TO hidden") }
      #expect(try await retract(2) == .retracted)
      #expect(try await retract(2) == .already)
      try await log.write { try $0.execute(sql: "ALTER TABLE hidden RENAME TO batch") }
      try log.close()
    }
  }
}
