import ArgumentParser
import GatewayProtocol
import PushPolicy

/// The options that select a part of a list.
struct ListOptions: ParsableArguments {
  @Option(help: "At most this many. (all)") var limit: Int?
  @Option(help: "Only entries after this one, in the order of the list.") var after: String?
  @Option(help: "Only names with this text in them.") var filter: String?

  func validate() throws { try OptionValue.check(limit, "--limit", 1...1_000_000_000) }
}

extension Admin {
  /// Prints a list page by page, so that neither side holds more than two pages.
  ///
  /// - Parameters:
  ///   - path: the path of the list, without a query.
  ///   - name: the member that determines the order of the list.
  ///   - cells: returns the texts of a table row.
  func printList(
    _ path: String, _ part: ListOptions, _ format: some OutputForm, name: StaticString = "name", header: [String],
    cells: (JSONElement) -> [String]
  ) async throws {
    let parser = JSONParser()
    var table = TableWriter(header)
    var left = part.limit ?? Int.max
    var page: [UInt8]? = try await bytes(part.path(path, left, after: part.after))
    while let body = page {
      // The next page is requested while this page is read and printed.
      let (size, last) = try ListOptions.end(of: body, name, parser)
      let isLast = size < min(left, ListOptions.pageSize) || size == left
      left -= size
      let next = isLast ? nil : Task { [left] in try await bytes(part.path(path, left, after: last)) }
      if format.json {
        Output.json(rows: body)
      } else {
        var rows: [[String]] = []
        _ = try parser.parse(body.span) { root in root.forEachElement { rows.append(cells($0)) } }
        Output.data(lines: table.lines(of: rows))
      }
      page = try await next?.value
    }
  }
}

extension ListOptions {
  fileprivate static let pageSize = 5000

  /// Returns the number of rows of a page and the name of the last row. A page is a JSON array with one row per line,
  /// and no text in it has a line end.
  fileprivate static func end(
    of page: [UInt8], _ name: StaticString, _ parser: borrowing JSONParser
  ) throws -> (size: Int, last: String?) {
    let lineEnds = page.count { $0 == UInt8(ascii: "\n") }
    let start = page.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 1
    let row = Array(page[min(start, page.count)...].dropLast())
    guard !row.isEmpty else { return (0, nil) }
    return (lineEnds + 1, try parser.parse(row.span) { $0[name]?.string })
  }

  fileprivate func path(_ list: String, _ left: Int, after: String?) -> String {
    var values = ["limit=\(min(left, ListOptions.pageSize))"]
    if let after { values.append("after=\(pathPart(after))") }
    if let filter { values.append("filter=\(pathPart(filter))") }
    return list + (list.contains("?") ? "&" : "?") + values.joined(separator: "&")
  }
}

extension JSONElement {
  /// The texts of an array, separated by spaces.
  var joinedTexts: String {
    var texts = ""
    forEachElement { element in
      if !texts.isEmpty { texts += " " }
      texts += element.string ?? ""
    }
    return texts
  }
}
