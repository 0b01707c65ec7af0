/// One page of a list: its start, filter and size.
package struct ListPage: Sendable, Equatable {
  /// The name of the last row of the previous page; nil: the list starts at its beginning.
  package var after: String?
  /// A text that each name contains; nil: all names.
  package var filter: String?
  package var limit: Int

  package init(after: String? = nil, filter: String? = nil, limit: Int) {
    (self.after, self.filter, self.limit) = (after, filter, limit)
  }

  /// Returns the rows of the page, sorted by the bytes of their names; `name` is called once for each row.
  package func take<Row>(of rows: some Sequence<Row>, by name: (Row) -> String) -> [Row] {
    var matching: [(name: String, row: Row)] = []
    for row in rows {
      let name = name(row)
      if let after, !ListPage.precedes(after, name) { continue }
      if let filter, !name.contains(filter) { continue }
      matching.append((name, row))
    }
    matching.sort { ListPage.precedes($0.name, $1.name) }
    return matching.prefix(limit).map(\.row)
  }

  private static func precedes(_ one: String, _ other: String) -> Bool {
    one.utf8.lexicographicallyPrecedes(other.utf8)
  }
}
