import Foundation
import Testing

/// Runs the initial inputs and earlier findings of `make fuzz` (Tests/FuzzCorpus) in ordinary builds too: no input ends
/// the process.
@Suite(.timeLimit(.minutes(5))) struct FuzzCorpusTests {
  private static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../FuzzCorpus")
    .standardized

  /// Returns the input files of a target.
  private static func inputs(_ target: String) throws -> [URL] {
    try FileManager.default.contentsOfDirectory(at: folder.appending(path: target), includingPropertiesForKeys: nil)
      .sorted { $0.path < $1.path }
  }

  @Test func `every target has inputs, and every folder of inputs its target`() throws {
    let folders = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path).filter { !$0.contains(".") }
    #expect(Set(folders) == Set(FuzzTarget.all.map(\.name)))
  }

  /// Runs in its own process, because a target may replace the executor of all tasks of its process.
  @Test(arguments: FuzzTarget.all.map(\.name)) func `no input ends the process`(_ name: String) async throws {
    #expect(try !Self.inputs(name).isEmpty)
    await #expect(processExitsWith: .success) { [name = name as String] in
      try Self.replay(name)
      exit(EXIT_SUCCESS)
    }
  }

  private static func replay(_ name: String) throws {
    guard let target = FuzzTarget.all.first(where: { $0.name == name }) else { fatalError("no target \(name)") }
    let run = try target.prepare()
    for input in try inputs(name) { run(Array(try Data(contentsOf: input))) }
    run([])
  }
}
