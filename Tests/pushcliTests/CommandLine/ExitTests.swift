import Foundation
import GatewayClient
import Testing

@testable import pushcli

@Suite struct ExitTests {
  /// `PUSHGATEWAY_DOCS=write swift test --filter docs` writes the changed rows.
  @Test func `docs: the table of the page is that of the exit codes`() throws {
    let path = URL(filePath: #filePath).appending(path: "../../../../docs/reference/exit-codes.md").standardized
    var lines = try String(contentsOf: path, encoding: .utf8).split(separator: "\n", omittingEmptySubsequences: false)
    let first = try #require(lines.firstIndex { $0 == "| code | meaning |" }) + 2
    let end = lines[first...].firstIndex { !$0.hasPrefix("|") } ?? lines.endIndex
    let rows = Exit.allCases.map { "| \($0.rawValue) | \($0.meaning) |" }
    guard lines[first..<end].map(String.init) != rows else { return }
    if ProcessInfo.processInfo.environment["PUSHGATEWAY_DOCS"] == "write" {
      lines.replaceSubrange(first..<end, with: rows.map { $0[...] })
      try lines.joined(separator: "\n").write(to: path, atomically: true, encoding: .utf8)
    } else {
      Issue.record("exit-codes.md is not what the code says: PUSHGATEWAY_DOCS=write swift test --filter docs")
    }
  }

  @Test(
    arguments: [
      (400, .usage), (401, .notAuthorized), (403, .notAuthorized), (404, .suppressed), (409, .failed), (413, .usage),
      (429, .failed), (500, .failed), (503, .failed),
    ] as [(Int, Exit)])
  func `a refusal of the control plane has its code`(_ status: Int, _ exit: Exit) {
    #expect(CommandFailure.exit(of: status) == exit)
    #expect(CommandFailure(ClientError(.refused(status: status), "x")).exit == exit)
  }

  @Test(
    arguments: [
      (.unreachable, .unreachable, false), (.untrusted, .unreachable, true), (.misconfigured, .usage, true),
      (.unidentified, .usage, true),
    ] as [(ClientError.Kind, Exit, Bool)])
  func `a client's failure has its code, and what can't be mended is not tried again`(
    _ kind: ClientError.Kind, _ exit: Exit, _ isPermanent: Bool
  ) {
    let failure = CommandFailure(ClientError(kind, "x"))
    #expect(failure.exit == exit && failure.isPermanent == isPermanent)
  }

  @Test func `a device that the gateway does not know is nobody`() {
    #expect(CommandFailure(device: ClientError(.refused(status: 401), "x")).exit == .suppressed)
    #expect(CommandFailure(device: ClientError(.untrusted, "x")).exit == .unreachable)
  }
}
