import Foundation
import GatewayProtocol
import PushPolicy
import Testing

@testable import PushGateway

@Suite(.timeLimit(.minutes(5))) struct DeviceDocumentTests {
  @Test func `docs-device-api has an operation for each route of devices, and no other`() async throws {
    let page = "../../../../docs/reference/device-api.openapi.json"
    let path = URL(filePath: #filePath).appending(path: page).standardized
    let document = try #require(JSONValue(parsing: Array(try Data(contentsOf: path)), by: JSONParser()))
    guard case .object(let paths)? = document["paths"] else {
      Issue.record("device-api.openapi.json has no paths")
      return
    }
    var documented: Set<String> = []
    for (path, item) in paths {
      guard case .object(let operations) = item else { continue }
      for method in operations.keys { documented.insert("\(method.uppercased()) \(path)") }
    }
    try await TestGateway.run { gateway in
      let streams = ["GET \(Paths.deviceStream)", "POST \(Paths.deviceStream)"]
      let routes = DeviceAPI(gateway.parts).router.routes.map { route in
        "\(route.method) /\(route.pattern.joined(separator: "/"))"
      }
      #expect(documented == Set(routes + streams))
    }
  }
}
