import Foundation
import PushTesting
import Testing

@testable import PushCore
@testable import PushStorage

@Suite(.timeLimit(.minutes(5))) struct DatabasePagesTests {
  /// Returns a file of empty pages with a header.
  private func file(pageSize: Int, count: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: pageSize * count)
    bytes.replaceSubrange(0..<16, with: Array("SQLite format 3\0".utf8))
    bytes[16] = UInt8(truncatingIfNeeded: pageSize >> 8)
    bytes[17] = pageSize == 65_536 ? 1 : 0
    return bytes
  }

  @Test func `pages that lead to pages without end are left`() {
    let (pageSize, count) = (512, 20_000)
    var bytes = file(pageSize: pageSize, count: count)
    for page in 1..<count {
      let header = (page - 1) * pageSize + (page == 1 ? 100 : 0)
      bytes[header] = 5
      for place in 0..<4 { bytes[header + 8 + place] = UInt8(truncatingIfNeeded: (page + 1) >> (24 - 8 * place)) }
    }
    let tree = DatabasePages(bytes).tree(root: 1)
    #expect(tree.rows.isEmpty && tree.damages == 1)
    #expect(tree.pages.count == Limits.maximumTreeDepth)
  }

  @Test func `cells that lie upon one another are no more than a page holds`() {
    let pageSize = 65_536
    var bytes = file(pageSize: pageSize, count: 2)
    let header = pageSize
    bytes[header] = 13
    let cells = 10_000
    (bytes[header + 3], bytes[header + 4]) = (UInt8(cells >> 8), UInt8(cells & 0xFF))
    // A single cell of 30,000 bytes for all pointers: its size, its row, and a record of one blob.
    let offset = 30_000
    for number in 0..<cells {
      bytes[header + 8 + 2 * number] = UInt8(offset >> 8)
      bytes[header + 9 + 2 * number] = UInt8(offset & 0xFF)
    }
    func varint(_ value: Int) -> [UInt8] {
      [UInt8(value >> 14 & 127) | 128, UInt8(value >> 7 & 127) | 128, UInt8(value & 127)]
    }
    let size = 30_000
    let cell = varint(size) + [1, 4] + varint(12 + 2 * (size - 4))
    bytes.replaceSubrange(header + offset..<header + offset + cell.count, with: cell)
    let leaf = DatabasePages(bytes).leaf(2)
    #expect(leaf.rows.count == 2)
    #expect(leaf.damages == cells - 2)
  }

  @Test(arguments: [1, 2, 3, 4] as [UInt64])
  func `whatever stands in a file, reading it comes to an end`(_ seed: UInt64) throws {
    let folder = try TemporaryFolder()
    try SQLiteStore(path: folder.file("push.sqlite")).close()
    let sound = try folder.read("push.sqlite")
    var random = SplitMix64(state: seed)
    let telling: [UInt8] = [0, 1, 5, 13, 127, 128, 255]
    for _ in 0..<200 {
      var bytes = sound
      for _ in 0..<Int.random(in: 1...40, using: &random) {
        let place = Int.random(in: 0..<bytes.count, using: &random)
        bytes[place] = telling.randomElement(using: &random) ?? 0
      }
      bytes.removeLast(min(bytes.count, .random(in: 0...5000, using: &random)))
      let pages = DatabasePages(bytes)
      _ = pages.tree(root: .random(in: -1...20, using: &random))
      _ = pages.freePages
      for page in 0...pages.count + 1 { _ = pages.leaf(page) }
    }
  }
}
