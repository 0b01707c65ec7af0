import Foundation
import Testing

@testable import GatewayProtocol
@testable import PushGateway

@Suite(.timeLimit(.minutes(5))) struct AdminRoutesTests {
  @Test func `each path of the table has a route, and each route is in the table`() async throws {
    let file = URL(filePath: #filePath).appending(path: "../../../../Sources/GatewayProtocol/Admin/AdminPath.swift")
    let source = try String(contentsOf: file.standardized, encoding: .utf8)
    let table = source.matches(of: /AdminPath\("([^"]+)"\)/).map { "/admin/v1/\($0.1)" }
    #expect(table.count > 50)
    #expect(Set(table).count == table.count)
    try await TestGateway.run { gateway in
      let service = ServiceAPI(
        settings: { SettingsRecord(file: nil, settings: []) }, reload: { ReloadRecord(changed: [], waiting: []) },
        prepareRestart: {}, restart: nil)
      let routes = Set((gateway.admin.router.routes + service.routes).map { "/" + $0.pattern.joined(separator: "/") })
      #expect(routes.subtracting(["\(MetricsAPI.path)"]) == Set(table))
    }
  }
}
