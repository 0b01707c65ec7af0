import Foundation
import Testing

@testable import GatewayProtocol
@testable import PushCore
@testable import PushGateway

@Suite(.timeLimit(.minutes(5))) struct AdminRoutesTests {
  @Test func `each path of the table has a route, and each route is in the table`() async throws {
    let file = URL(filePath: #filePath).appending(path: "../../../../Sources/GatewayProtocol/Admin/AdminPath.swift")
    let source = try String(contentsOf: file.standardized, encoding: .utf8)
    let table = source.matches(of: /AdminPath\("([^"]+)"\)/).map { "/admin/v1/\($0.1)" }
    #expect(table.count > 50)
    #expect(Set(table).count == table.count)
    try await TestGateway.run { gateway in
      let routes = Set(gateway.admin.router.routes.map { "/" + $0.pattern.joined(separator: "/") })
      #expect(routes.subtracting(["\(MetricsAPI.path)"]) == Set(table))
    }
  }

  @Test func `docs-admin-api has a row for each route, with its role, and no other`() async throws {
    let file = URL(filePath: #filePath).appending(path: "../../../../docs/reference/admin-api.md")
    let page = try String(contentsOf: file.standardized, encoding: .utf8)
    let rows = page.split(separator: "\n").compactMap { line -> String? in
      let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      guard cells.count >= 2, cells[0].hasPrefix("`"), cells[0].contains(" /") else { return nil }
      return "\(cells[0].dropFirst().dropLast()) \(cells[1])"
    }
    try await TestGateway.run { gateway in
      let routes = gateway.admin.router.routes.map { route in
        let path = route.pattern.joined(separator: "/")
        return "\(route.method) /\(path) \(route.role?.rawValue ?? "")"
      }
      #expect(rows.sorted() == routes.sorted())
    }
  }
}
