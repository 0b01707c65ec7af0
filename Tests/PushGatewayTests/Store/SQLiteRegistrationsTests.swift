import Testing

@testable import PushGateway

@Suite(.timeLimit(.minutes(1))) struct SQLiteRegistrationsTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test(arguments: RegistrationsConformance.checks.map(\.name))
  func `it does what every home of the registrations does`(_ name: String) async throws {
    let path = folder.file("push.sqlite")
    let open: @Sendable () throws -> any Registrations = {
      try SQLiteRegistrations(store: try SQLiteStore(path: path))
    }
    let check = try #require(RegistrationsConformance.checks.first { $0.name == name })
    try await check.run(RegistrationsConformance(registrations: try open(), reopened: open))
  }
}
