import ArgumentParser
import GatewayProtocol
import PushCore
import PushPolicy

/// Which part of a list is printed.
struct ListOptions: ParsableArguments {
  @Option(help: "At most this many. (all)") var limit: Int?
  @Option(help: "Only what comes after this one, in the order of the list.") var after: String?
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
      var rows: [[String]] = []
      var (size, last) = (0, String?.none)
      _ = try parser.parse(body.span) { root in
        root.forEachElement { row in
          size += 1
          last = row[name]?.string
          if !format.json { rows.append(cells(row)) }
        }
      }
      let isLast = size < min(left, ListOptions.pageSize) || size == left
      left -= size
      count += size
      // The next one is on its way while this one is printed.
      let next = isLast ? nil : Task { [left, last] in try await bytes(part.path(path, left, after: last)) }
      if format.json { Output.json(rows: body) } else { Output.data(lines: table.lines(of: rows)) }
      page = try await next?.value
    }
    return count > 0
  }
}

extension ListOptions {
  fileprivate static let pageSize = 5000

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
