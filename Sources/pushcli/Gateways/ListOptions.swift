import ArgumentParser
import GatewayProtocol
import PushCore
import PushPolicy

/// Which part of a list is printed.
struct ListOptions: ParsableArguments {
  @Option(help: "At most this many. (all)") var limit: Int?
  @Option(help: "Only entries after this one, in the order of the list.") var after: String?
  @Option(help: "Only names with this text in them.") var filter: String?

  func validate() throws { try OptionRange.check(limit, "--limit", 1...1_000_000_000) }
}

extension Admin {
  /// Prints a list page by page: neither end holds more than two of them.
  ///
  /// - Parameters:
  ///   - path: the list's, without a query.
  ///   - name: the member that the list is in the order of.
  ///   - cells: what a row of the table has.
  /// - Returns: whether there was anything.
  @discardableResult
  func printList(
    _ path: String, _ part: ListOptions, _ format: FormatOptions, name: StaticString = "name", header: [String],
    cells: (JSONElement) -> [String]
  ) async throws -> Bool {
    let parser = JSONParser()
    var table = TableWriter(header)
    var (left, count) = (part.limit ?? Int.max, 0)
    var page: [UInt8]? = try await bytes(part.path(path, left, after: part.after))
    while let body = page {
      // The next one is on its way while this one is read and printed.
      let (size, last) = try ListOptions.end(of: body, name, parser)
      let isLast = size < min(left, ListOptions.pageSize) || size == left
      left -= size
      count += size
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
    return count > 0
  }
}

extension ListOptions {
  fileprivate static let pageSize = 5000

  /// How many rows a page has, and the name of the last: it is a JSON array with a row a line, and no text in it has a line end.
  fileprivate static func end(
    of page: [UInt8], _ name: StaticString, _ parser: borrowing JSONParser
  ) throws -> (size: Int, last: String?) {
    let lineEnds = page.count { $0 == UInt8(ascii: "\n") }
    let start = page.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 1
    let row = Array(page[min(start, page.count)...].dropLast())
    guard !row.isEmpty else { return (0, nil) }
    return (lineEnds + 1, try parser.parse(row.span) { $0[name]?.string })
  }

  /// The path of a page.
  fileprivate func path(_ list: String, _ left: Int, after: String?) -> String {
    var values = ["limit=\(min(left, ListOptions.pageSize))"]
    if let after { values.append("after=\(pathPart(after))") }
    if let filter { values.append("filter=\(pathPart(filter))") }
    return list + (list.contains("?") ? "&" : "?") + values.joined(separator: "&")
  }
}

extension JSONElement {
  /// The texts of an array, with spaces between them.
  var joinedTexts: String {
    var texts = ""
    forEachElement { element in
      if !texts.isEmpty { texts += " " }
      texts += element.string ?? ""
    }
    return texts
  }
}
