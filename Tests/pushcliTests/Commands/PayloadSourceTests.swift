import ArgumentParser
import Testing

@testable import pushcli

@Suite struct PayloadSourceTests {
  /// Returns the source of the payload, if `notes.txt` is an existing file.
  private func source(
    _ words: [String], file: String? = nil, options: [String] = [], input: StandardInput = .none
  ) throws -> PayloadSource {
    try PayloadSource(words: words, file: file, content: try PayloadOptions.parse(options).content, input: input) {
      $0 == "notes.txt"
    }
  }

  @Test(
    arguments: [
      (["Hello"], .flags(body: "Hello")), (["Hello", "there"], .flags(body: "Hello there")), ([""], .flags(body: "")),
      (["a.json"], .file("a.json")), (["a.apns"], .file("a.apns")), (["@notes.txt"], .file("notes.txt")),
      (["-"], .file("-")), (["see", "a.json"], .flags(body: "see a.json")), (["@"], .flags(body: "@")),
    ] as [([String], PayloadSource)])
  func `what stands after the options is a message, or a payload by its name`(
    _ words: [String], _ expected: PayloadSource
  ) throws {
    // Standard input is not read, whatever it is.
    for input in [StandardInput.none, .piped, .shared] { #expect(try source(words, input: input) == expected) }
  }

  @Test func `a file of another name is not sent as its own name`() throws {
    let failure = #expect(throws: CommandFailure.self) { try source(["notes.txt"]) }
    #expect(failure?.exit == .usage && failure?.message.contains("-f notes.txt") == true)
    #expect(try source([], file: "notes.txt") == .file("notes.txt"))
  }

  @Test(
    arguments: [
      ([], .none, .flags(body: nil)), ([], .piped, .pipedBody), ([], .shared, .pipedBody),
      (["--title", "T"], .piped, .pipedBody), (["--title", "T"], .shared, .flags(body: nil)),
      (["--title", "T"], .none, .flags(body: nil)), (["--badge", "1"], .shared, .flags(body: nil)),
      (["--body", "B"], .piped, .flags(body: "B")), (["--body", ""], .piped, .flags(body: "")),
      (["--body", "-"], .shared, .pipedBody), (["--category", "C"], .shared, .pipedBody),
    ] as [([String], StandardInput, PayloadSource)])
  func `standard input is the message where there is no other, and a loop keeps its lines`(
    _ options: [String], _ input: StandardInput, _ expected: PayloadSource
  ) throws {
    #expect(try source([], options: options, input: input) == expected)
  }

  @Test(
    arguments: [
      (["a.json"], nil, ["--title", "T"]), (["-"], nil, ["--badge", "1"]), ([], "x", ["--thread", "t"]),
      (["Hello"], "x", []), (["Hello"], nil, ["--body", "B"]), (["a.json"], "x", []),
    ] as [([String], String?, [String])])
  func `two sources are one too many`(_ words: [String], _ file: String?, _ options: [String]) {
    let failure = #expect(throws: CommandFailure.self) { try source(words, file: file, options: options) }
    #expect(failure?.exit == .usage)
  }
}

@Suite struct StandardInputTests {
  private static let shell = ("bash", true)

  @Test(
    arguments: [
      (0o010000, [("bash", false)], .piped), (0o010000, [("bash", true)], .shared), (0o010000, [], .piped),
      (0o100000, [("bash", true)], .shared), (0o100000, [("python3", false)], .piped),
      (0o010000, [("timeout", true), ("bash", false)], .piped),
      (0o010000, [("sudo", true), ("timeout", true), ("bash", true)], .shared),
      (0o010000, [("timeout", false), ("bash", true)], .piped),
      (0o020000, [("bash", true)], .none), (0o020000, [], .none), (0o140000, [("sshd", false)], .shared),
    ] as [(UInt32, [(String, Bool)], StandardInput)])
  func `a pipe is this command's own unless who began it reads it as well`(
    _ mode: UInt32, _ ancestors: [(String, Bool)], _ expected: StandardInput
  ) {
    #expect(StandardInput.of(mode: mode, ancestors: ancestors.map { (name: $0.0, isSame: $0.1) }) == expected)
  }
}
