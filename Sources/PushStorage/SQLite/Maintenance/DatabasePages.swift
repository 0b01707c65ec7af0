import PushCore

/// A row of a leaf page. A column that is the rowid is `null` in `values`.
package struct PageRow: Equatable {
  package var rowID: Int64
  package var values: [RowValue]
}

/// The pages of a database file that SQLite refuses, read one by one: invalid parts are left out.
///
/// The format is <https://www.sqlite.org/fileformat2.html>; comments name its sections. Only table trees are read,
/// because indexes can be created again.
package struct DatabasePages {
  private let bytes: [UInt8]
  package let pageSize: Int
  /// The number of bytes of a page that its tree uses (§1.3.4).
  private let usableSize: Int
  package var count: Int { bytes.count / pageSize }
  /// True if the first page begins with a valid header, so that its statements about the other pages can be used.
  package let hasHeader: Bool

  /// Creates the pages of a file's content.
  ///
  /// - Parameter fallbackPageSize: the size of pages in bytes if the header can't be read.
  package init(_ bytes: [UInt8], fallbackPageSize: Int = 4096) {
    self.bytes = bytes
    hasHeader = bytes.starts(with: Array("SQLite format 3\0".utf8)) && bytes.count >= 512
    let declared = hasHeader ? Int(bytes[16]) << 8 | Int(bytes[17]) : 0
    let size = declared == 1 ? 65536 : declared
    let isPlausible = (512...65536).contains(size) && size & (size - 1) == 0
    pageSize = isPlausible ? size : fallbackPageSize
    usableSize = pageSize - (isPlausible ? Int(bytes[20]) : 0)
  }

  // MARK: Trees

  /// The result of a walk over a tree.
  package struct Tree {
    package var rows: [PageRow] = []
    /// Each page that belongs to the tree, including overflow pages.
    package var pages: Set<Int> = []
    /// The number of invalid pages and page entries.
    package var damages = 0
  }

  /// Returns the rows of the tree with a root page, in order (§1.6).
  package func tree(root: Int) -> Tree {
    var tree = Tree()
    walk(root, depth: 1, &tree)
    return tree
  }

  private func walk(_ page: Int, depth: Int, _ tree: inout Tree) {
    guard depth <= Limits.maximumTreeDepth, (1...max(1, count)).contains(page), tree.pages.insert(page).inserted else {
      tree.damages += 1
      return
    }
    switch kind(of: page) {
    case .leaf: readLeaf(page, &tree)
    case .interior:
      let header = headerStart(page)
      for number in 0..<cellCount(page) {
        guard let cell = cellStart(page, number, headerSize: 12), let child = integer32(cell) else {
          tree.damages += 1
          continue
        }
        walk(child, depth: depth + 1, &tree)
      }
      if let last = integer32(header + 8) { walk(last, depth: depth + 1, &tree) }
    case .other: tree.damages += 1
    }
  }

  /// Returns the rows of one leaf page, whatever tree it belongs to.
  package func leaf(_ page: Int) -> Tree {
    var tree = Tree()
    if kind(of: page) == .leaf {
      tree.pages = [page]
      readLeaf(page, &tree)
    }
    return tree
  }

  private func readLeaf(_ page: Int, _ tree: inout Tree) {
    // Overlapping entries would yield more bytes than the page has: this limits their total size.
    var room = min(usableSize, bytes.count - (page - 1) * pageSize)
    for number in 0..<cellCount(page) {
      if let cell = cellStart(page, number, headerSize: 8), let row = row(at: cell, &room, &tree.pages) {
        tree.rows.append(row)
      } else {
        tree.damages += 1
      }
    }
  }

  package enum Kind { case leaf, interior, other }

  /// Returns the kind of a page (§1.6); `other` for a page that belongs to no table tree or is invalid.
  package func kind(of page: Int) -> Kind {
    let header = headerStart(page)
    guard (1...max(1, count)).contains(page), header + 12 <= bytes.count else { return .other }
    let (kind, headerSize): (Kind, Int)
    switch bytes[header] {
    case 13: (kind, headerSize) = (.leaf, 8)
    case 5: (kind, headerSize) = (.interior, 12)
    default: return .other
    }
    return headerSize + 2 * cellCount(page) <= usableSize ? kind : .other
  }

  /// The free pages, which are in no tree (§1.5); empty if the list can't be read.
  package var freePages: Set<Int> {
    guard hasHeader, var trunk = integer32(32) else { return [] }
    var pages: Set<Int> = []
    while (1...max(1, count)).contains(trunk), pages.insert(trunk).inserted {
      let start = (trunk - 1) * pageSize
      guard let next = integer32(start), let leaves = integer32(start + 4), leaves <= usableSize / 4 - 2 else { break }
      for number in 0..<leaves {
        if let page = integer32(start + 8 + 4 * number) { pages.insert(page) }
      }
      trunk = next
    }
    return pages
  }

  // MARK: Page entries (`cells` of the file format)

  /// Returns the start of a page's b-tree header: the first page begins with the header of the file (§1.3).
  private func headerStart(_ page: Int) -> Int { (page - 1) * pageSize + (page == 1 ? 100 : 0) }

  private func cellCount(_ page: Int) -> Int {
    let header = headerStart(page)
    return Int(bytes[header + 3]) << 8 | Int(bytes[header + 4])
  }

  private func cellStart(_ page: Int, _ number: Int, headerSize: Int) -> Int? {
    let pointer = headerStart(page) + headerSize + 2 * number
    guard pointer + 2 <= page * pageSize, pointer + 2 <= bytes.count else { return nil }
    let offset = Int(bytes[pointer]) << 8 | Int(bytes[pointer + 1])
    guard offset >= headerSize, offset + 4 <= usableSize else { return nil }
    return (page - 1) * pageSize + offset
  }

  private func row(at cell: Int, _ room: inout Int, _ pages: inout Set<Int>) -> PageRow? {
    var position = cell
    guard let size = varint(&position), let rowID = varint(&position), size >= 1, size <= Int64(bytes.count),
      let payload = payload(at: position, of: cell, size: Int(size), &room, &pages)
    else { return nil }
    return DatabasePages.record(payload[...]).map { PageRow(rowID: rowID, values: $0) }
  }

  /// The minimum number of bytes that SQLite allocates for an entry.
  private static let minimumCellSize = 4

  /// Returns the payload of the entry at `cell`, including its overflow pages (§1.6, §1.7); nil if it exceeds the
  /// space of its page.
  private func payload(
    at position: Int, of cell: Int, size: Int, _ room: inout Int, _ pages: inout Set<Int>
  ) -> [UInt8]? {
    let largest = usableSize - 35
    var local = size
    if size > largest {
      let least = (usableSize - 12) * 32 / 255 - 23
      let kept = least + (size - least) % (usableSize - 4)
      local = kept <= largest ? kept : least
    }
    let end = (position / pageSize + 1) * pageSize
    let taken = max(position - cell + local, DatabasePages.minimumCellSize)
    guard taken <= room, position + local <= end, position + local <= bytes.count else { return nil }
    room -= taken
    var payload = Array(bytes[position..<position + local])
    guard local < size else { return payload }
    var next = integer32(position + local) ?? 0
    while payload.count < size {
      let start = (next - 1) * pageSize
      // A page number beyond the file belongs to no tree.
      guard next >= 2, start + pageSize <= bytes.count, pages.insert(next).inserted else { return nil }
      let length = min(size - payload.count, usableSize - 4)
      payload += bytes[(start + 4)..<(start + 4 + length)]
      next = integer32(start) ?? 0
    }
    return payload
  }

  /// Returns the values of a record (§2.1); nil if it is invalid.
  private static func record(_ payload: ArraySlice<UInt8>) -> [RowValue]? {
    var position = payload.startIndex
    guard let headerSize = varint(payload, &position), headerSize <= Int64(payload.count), headerSize >= 1 else {
      return nil
    }
    let headerEnd = payload.startIndex + Int(headerSize)
    var content = headerEnd
    var values: [RowValue] = []
    while position < headerEnd {
      guard let type = varint(payload, &position), let size = size(ofType: type), content + size <= payload.endIndex
      else {
        return nil
      }
      let bytes = payload[content..<content + size]
      content += size
      switch type {
      case 0: values.append(.null)
      case 1...6: values.append(.integer(signed(bytes)))
      case 7: values.append(.real(Double(bitPattern: UInt64(bitPattern: signed(bytes)))))
      case 8, 9: values.append(.integer(type - 8))
      case _ where type.isMultiple(of: 2): values.append(.blob(Array(bytes)))
      default:
        guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
        values.append(.text(text))
      }
    }
    return position == headerEnd && content == payload.endIndex ? values : nil
  }

  private static func size(ofType type: Int64) -> Int? {
    switch type {
    case 0, 8, 9: 0
    case 1...4: Int(type)
    case 5: 6
    case 6, 7: 8
    case 12...Int64(2 * Limits.maximumRepairedValueSize + 13): Int(type - 12) / 2
    default: nil
    }
  }

  private static func signed(_ bytes: ArraySlice<UInt8>) -> Int64 {
    bytes.reduce(Int64(bytes.first.map { $0 >= 128 ? -1 : 0 } ?? 0)) { $0 << 8 | Int64($1) }
  }

  // MARK: Numbers

  private func varint(_ position: inout Int) -> Int64? { DatabasePages.varint(bytes[...], &position) }

  /// Reads a number of one to nine bytes, the highest first (§1.6).
  private static func varint(_ bytes: ArraySlice<UInt8>, _ position: inout Int) -> Int64? {
    var value: UInt64 = 0
    for number in 0..<9 {
      guard position < bytes.endIndex else { return nil }
      let byte = bytes[position]
      position += 1
      if number == 8 { return Int64(bitPattern: value << 8 | UInt64(byte)) }
      value = value << 7 | UInt64(byte & 127)
      if byte < 128 { return Int64(bitPattern: value) }
    }
    return nil
  }

  private func integer32(_ position: Int) -> Int? {
    guard position >= 0, position + 4 <= bytes.count else { return nil }
    return bytes[position..<position + 4].reduce(0) { $0 << 8 | Int($1) }
  }
}
