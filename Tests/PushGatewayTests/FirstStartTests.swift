import Foundation
import PushTesting
import Testing

@testable import PushCore
@testable import PushGateway
@testable import PushStorage

@Suite struct FirstStartTests {
  @Test func `the development key is found where it was restored`() async throws {
    let (source, target) = (try TemporaryFolder(), try TemporaryFolder())
    let folder = StateFolder(source.path)
    let store = try SQLiteStore(path: folder.databasePath)
    try await folder.prepareDevelopment(try SQLiteRegistrations(store: store))
    _ = try Backup.write(store, folder, to: target.file("a.backup"), now: Date())
    let restored = StateFolder(target.file("state"))
    _ = try Backup.restore(target.file("a.backup"), into: restored)
    let content = try #require(FileManager.default.contents(atPath: restored.developmentPath))
    let development = try JSONDecoder().decode(StateFolder.Development.self, from: content)
    #expect(development.keyPath.hasPrefix(restored.path + "/AuthKey_"))
    #expect(FileManager.default.fileExists(atPath: development.keyPath))
  }
}
