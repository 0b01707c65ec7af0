import Foundation
import Testing

/// What `make fuzz` begins with, and what it found (Tests/FuzzCorpus): no input ends the process, in ordinary builds, too.
@Suite(.timeLimit(.minutes(5))) struct FuzzCorpusTests {
  private static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../FuzzCorpus")
    .standardized

  /// The inputs of a target.
  private static func inputs(_ target: String) throws -> [URL] {
    try FileManager.default.contentsOfDirectory(at: folder.appending(path: target), includingPropertiesForKeys: nil)
      .sorted { $0.path < $1.path }
  }

  @Test func `every target has inputs, and every folder of inputs its target`() throws {
    let folders = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path).filter { !$0.contains(".") }
    #expect(Set(folders) == Set(FuzzTarget.all.map(\.name)))
  }

  @Test(arguments: FuzzTarget.all.map(\.name)) func `no input ends the process`(_ name: String) throws {
    let target = try #require(FuzzTarget.all.first { $0.name == name })
    let run = try target.prepare()
    let inputs = try Self.inputs(name)
    #expect(!inputs.isEmpty)
    for input in inputs { run(Array(try Data(contentsOf: input))) }
    run([])
  }
}
