import Foundation
import PushCore
import PushTesting
import Testing

@testable import PushGateway

@Suite struct AddressFileTests {
  private let home: TemporaryFolder

  init() throws { home = try TemporaryFolder() }

  @Test func `each beginning of a failure is logged once`() throws {
    let folder = StateFolder(home.file("state"))
    let lines = LimitLogTests.Lines()
    let file = AddressFile(folder, logger: lines.logger)
    for address in ["127.0.0.1:1", "127.0.0.1:2"] {
      file.write([address])
      file.write([address])
      #expect(lines.all.count == (address.hasSuffix("1") ? 1 : 2))
      try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
      file.write([address])
      let text = try String(contentsOfFile: folder.listeningPath, encoding: .utf8)
      #expect(text == address + "\n")
      try FileManager.default.removeItem(atPath: folder.path)
    }
    #expect(lines.all.allSatisfy { $0.contains("event=gateway-not-announced") })
    // The addresses are the last ones: no write is necessary.
    file.write(["127.0.0.1:2"])
    #expect(lines.all.count == 2)
  }
}
