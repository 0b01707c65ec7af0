import ArgumentParser
import Testing

@testable import pushcli

@Suite struct LintTests {
  @Test func `the size limit is the one of the push type`() throws {
    #expect(try Lint.parse(["x.json"]).maximumSize == 4096)
    #expect(try Lint.parse(["--push-type", "voip", "x.json"]).maximumSize == 5120)
    #expect(throws: (any Error).self) { try Lint.parse(["--push-type", "voice", "x.json"]) }
  }
}
