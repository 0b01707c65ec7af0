import PushTesting
import Testing

@testable import PushCore

@Suite struct UnreadableFileTests {
  @Test func `the reason names a missing file and a folder`() throws {
    let folder = try TemporaryFolder()
    let file = try folder.write("words".utf8, "file")
    #expect(UnreadableFile.reason(of: folder.file("nothing")) == "there is no such file")
    #expect(UnreadableFile.reason(of: file + "/below") == "there is no such file")
    #expect(UnreadableFile.reason(of: folder.path) == "expected a file, not a folder")
    #expect(UnreadableFile.reason(of: "/dev/null") == "expected a regular file")
    #expect(UnreadableFile.reason(of: file) == "check the disk")
  }
}
