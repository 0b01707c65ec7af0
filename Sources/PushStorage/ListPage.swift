/// A part of a list that is read page by page.
package struct ListPage: Sendable, Equatable {
  /// The name of the last row of the page before; nil: from the beginning.
  package var after: String?
  /// A text that is in each name; nil: all of them.
  package var filter: String?
  package var limit: Int

  package init(after: String? = nil, filter: String? = nil, limit: Int) {
    (self.after, self.filter, self.limit) = (after, filter, limit)
  }

  /// The part of rows that this asks for. Names are in the order of their bytes.
  package func take<Row>(of rows: some Sequence<Row>, by name: (Row) -> String) -> [Row] {
    let wanted = rows.filter { row in
      let name = name(row)
      return (after.map { ListPage.precedes($0, name) } ?? true) && (filter.map { name.contains($0) } ?? true)
    }
    return Array(wanted.sorted { ListPage.precedes(name($0), name($1)) }.prefix(limit))
  }

  private static func precedes(_ one: String, _ other: String) -> Bool {
    one.utf8.lexicographicallyPrecedes(other.utf8)
  }
}
