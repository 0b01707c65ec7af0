import Foundation
import PushTesting
import Testing

@testable import PushGateway

@Suite struct MetricsTokenTests {
  static let secret = "0123456789abcdefghijklmnop"

  func file(_ text: String, mode: Int = 0o600) throws -> (folder: TemporaryFolder, token: MetricsToken) {
    let folder = try TemporaryFolder()
    let path = folder.file("token")
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    return (folder, MetricsToken(path: path))
  }

  @Test(arguments: ["", "\n", "\r\n"]) func `the line is the secret, and nothing else is`(_ end: String) throws {
    let (folder, token) = try file(MetricsTokenTests.secret + end)
    defer { _ = folder }
    #expect(try token.permits(MetricsTokenTests.secret))
    for other in ["", MetricsTokenTests.secret.dropLast() + "q", MetricsTokenTests.secret + "q", end] {
      #expect(try !token.permits(String(other)), "\(other)")
    }
  }

  @Test func `another secret takes its place while the gateway runs`() throws {
    let (folder, token) = try file(MetricsTokenTests.secret)
    try Data((MetricsTokenTests.secret + "2").utf8).write(to: URL(fileURLWithPath: folder.file("token")))
    #expect(try !token.permits(MetricsTokenTests.secret))
    #expect(try token.permits(MetricsTokenTests.secret + "2"))
  }

  @Test(arguments: [
    ("", 0o600, "holds no secret"), ("short", 0o600, "holds no secret"),
    (secret + " " + secret, 0o600, "holds no secret"), (String(repeating: "x", count: 1025), 0o600, "holds no secret"),
    (secret, 0o640, "chmod 600"), (secret, 0o604, "chmod 600"),
  ])
  func `a file that others read, or that holds none, is refused`(_ text: String, _ mode: Int, _ words: String) throws {
    let (folder, token) = try file(text, mode: mode)
    defer { _ = folder }
    let error = #expect(throws: ConfigurationError.self) { try token.check() }
    #expect(error?.description.contains(words) == true, "\(error?.description ?? "")")
    #expect(error?.description.hasPrefix("metrics_token_file: ") == true)
  }

  @Test func `no file, and a folder, are refused`() throws {
    let folder = try TemporaryFolder()
    for path in [folder.file("nothing"), folder.path] {
      #expect(throws: ConfigurationError.self) { try MetricsToken(path: path).check() }
    }
  }
}
