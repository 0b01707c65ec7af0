import Foundation
import GatewayProtocol
import Testing

@testable import GatewayClient

@Suite struct CursorFileTests {
  private let path = NSTemporaryDirectory() + "cursor-\(UUID())"
  private let epoch = NumberingEpoch("cell-1")

  private func position(_ epoch: NumberingEpoch?, _ seq: UInt64) -> NumberedPosition {
    NumberedPosition(epoch: epoch, seq: seq)
  }

  private func withFile(_ text: String = "", _ body: (CursorFile) throws -> Void) throws {
    try Data(text.utf8).write(to: URL(filePath: path))
    defer { try? FileManager.default.removeItem(atPath: path) }
    try body(try CursorFile(path: path))
  }

  @Test(
    arguments: [
      ("", nil, 0), ("00000000000000000057\n", nil, 57), ("57", nil, 57),
      ("00000000000000000057 cell-1\n", "cell-1", 57),
      ("00000000000000000057\nl-1\n", nil, 57), ("00000000000000000057 a b\n", nil, 57), ("words\n", nil, 0),
      (" cell-1\n", "cell-1", 0), ("99999999999999999999 cell-1\n", "cell-1", 0),
    ] as [(String, String?, UInt64)])
  func `what stands there is read`(_ text: String, _ epoch: String?, _ seq: UInt64) throws {
    try withFile(text) { #expect($0.position == position(epoch.flatMap(NumberingEpoch.init), seq)) }
  }

  @Test func `a number rises within its numbering, and one of another is ignored`() throws {
    try withFile("00000000000000000057\n") { file in
      try file.write(position(nil, 56))
      try file.write(position(epoch, 90))
      #expect(file.position == position(nil, 57))
      try file.begin(epoch)
      #expect(file.position == position(epoch, 0))
      try file.write(position(nil, 58))
      try file.write(position(epoch, 4))
      try file.begin(epoch)
      #expect(file.position == position(epoch, 4))
      try file.begin(NumberingEpoch("c"))
      try file.write(position(NumberingEpoch("c"), 2))
      #expect(file.position == position(NumberingEpoch("c"), 2))
      try file.begin(nil)
      #expect(file.position == position(nil, 0))
      #expect(try CursorFile(path: path).position == position(nil, 0))
    }
  }
}
