import Foundation
import PushTesting
import Testing

@testable import pushcli

@Suite struct ReadFileTests {
  @Test func `a file is read whole, and so is a pipe of a shell`() throws {
    let folder = try TemporaryFolder()
    let file = try folder.write("words".utf8, "file")
    #expect(try readFile(file) == Array("words".utf8))
    let pipe = Pipe()
    try pipe.fileHandleForWriting.write(contentsOf: Data("piped".utf8))
    try pipe.fileHandleForWriting.close()
    #expect(try readFile("/dev/fd/\(pipe.fileHandleForReading.fileDescriptor)") == Array("piped".utf8))
    #expect(try readFile("/dev/null") == [])
  }

  @Test func `a file that can't be read is a wrong usage, with the reason`() throws {
    let folder = try TemporaryFolder()
    for (path, reason) in [
      (folder.file("nothing"), "there is no such file"), (folder.path, "expected a file, not a folder"),
    ] {
      let error = #expect(throws: CommandFailure.self) { try readFile(path) }
      #expect(error?.exit == .usage && error?.message == "\(path) can't be read: \(reason)")
    }
  }
}
