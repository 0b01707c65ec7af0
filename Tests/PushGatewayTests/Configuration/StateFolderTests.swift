import Testing

@testable import PushCore

@Suite struct StateFolderTests {
  @Test func `one gateway alone uses a folder, until it gives it up`() throws {
    let temporary = try TemporaryFolder()
    let folder = StateFolder(temporary.path + "/state")
    do {
      let claim = try folder.claim()
      #expect(throws: StateFolder.Failure.self) { _ = try folder.claim() }
      withExtendedLifetime(claim) {}
    }
    _ = try folder.claim()
  }
}
