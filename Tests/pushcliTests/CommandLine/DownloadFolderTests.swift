import Foundation
import PushTesting
import Testing

@testable import pushcli

@Suite struct DownloadFolderTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test func `a file that exists stays, and a further one gets a number`() throws {
    let contents: [[UInt8]] = [[1], [2], [3]]
    let paths = try contents.map { try DownloadFolder.save($0, as: "a/report.txt", in: folder.path) }
    #expect(paths == ["report.txt", "report (2).txt", "report (3).txt"].map(folder.file))
    #expect(try Data(contentsOf: URL(filePath: paths[0])) == Data([1]))
    #expect(try Data(contentsOf: URL(filePath: paths[2])) == Data([3]))
  }

  @Test(arguments: [("a", "a (2)"), ("a.b.c", "a.b (2).c"), (".a", ".a (2)")])
  func `the number is before the ending`(_ name: String, _ expected: String) {
    #expect(DownloadFolder.numbered(name, 2) == expected)
    #expect(DownloadFolder.numbered(name, 1) == name)
  }
}
