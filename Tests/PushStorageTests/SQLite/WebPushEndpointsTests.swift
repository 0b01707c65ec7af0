import GRDB
import PushTesting
import Testing

@testable import PushCore
@testable import PushStorage

@Suite struct WebPushEndpointsTests {
  private let folder: TemporaryFolder
  private let store: SQLiteStore
  private let endpoints: WebPushEndpoints

  init() throws {
    folder = try TemporaryFolder()
    store = try SQLiteStore(path: folder.file("push.sqlite"))
    endpoints = try WebPushEndpoints(store: store)
  }

  private func endpoint(_ name: String, device: Int64 = 3, app: Int64 = 1) -> WebPushEndpoint {
    WebPushEndpoint(
      name: name, device: DeviceID(row: device), app: AppID(row: app), origin: "https://localhost:2197", vapid: nil,
      created: 1)
  }

  private let device = DeviceID(row: 3)

  @Test func `an endpoint is found by its id, also by the next program that opens the database`() async throws {
    var restricted = endpoint("shop")
    restricted.vapid = try ES256Key.generate().publicPoint
    try await endpoints.add(endpoint("blog"), id: "1")
    try await endpoints.add(restricted, id: "2")
    for endpoints in [endpoints, try WebPushEndpoints(store: store)] {
      #expect(endpoints.find("1") == endpoint("blog"))
      #expect(endpoints.find("2") == restricted)
      #expect(endpoints.find("3") == nil)
      #expect(endpoints.list(of: device).map(\.name) == ["blog", "shop"])
    }
  }

  @Test func `the id is not stored`() async throws {
    try await endpoints.add(endpoint("blog"), id: "an-id-of-an-endpoint")
    let stored = try await store.pool.read { db in
      try String.fetchAll(db, sql: "SELECT name || origin || hex(id_hash) FROM web_push_endpoint")
    }
    #expect(stored.count == 1 && stored.allSatisfy { !$0.contains("an-id") })
  }

  @Test func `a removed endpoint stays known, and its name is free`() async throws {
    try await endpoints.add(endpoint("blog"), id: "1")
    await #expect(throws: RegistrationRefusal.self) { try await endpoints.add(endpoint("blog"), id: "2") }
    try await endpoints.remove("blog", of: device, at: 7)
    await #expect(throws: RegistrationRefusal.self) { try await endpoints.remove("blog", of: device, at: 8) }
    try await endpoints.add(endpoint("blog"), id: "2")
    for endpoints in [endpoints, try WebPushEndpoints(store: store)] {
      #expect(endpoints.find("1")?.removed == 7)
      #expect(endpoints.find("2")?.removed == nil)
      #expect(endpoints.list(of: device) == [endpoint("blog")])
    }
    try await endpoints.trim(now: 7 + Limits.endpointRetention * 1000)
    #expect(endpoints.find("1") != nil)
    try await endpoints.trim(now: 8 + Limits.endpointRetention * 1000)
    #expect(endpoints.find("1") == nil && endpoints.find("2") != nil)
    #expect(try WebPushEndpoints(store: store).find("1") == nil)
  }

  @Test(arguments: ["", "a\nb", String(repeating: "a", count: 65)])
  func `an invalid name is refused`(_ name: String) async throws {
    await #expect(throws: RegistrationRefusal.self) { try await endpoints.add(endpoint(name), id: "1") }
  }

  @Test func `a removed device and a removed app have no endpoints`() async throws {
    try await endpoints.add(endpoint("one", device: 1, app: 1), id: "1")
    try await endpoints.add(endpoint("two", device: 1, app: 2), id: "2")
    try await endpoints.add(endpoint("three", device: 2, app: 2), id: "3")
    try await endpoints.forget(AppID(row: 1), at: 5)
    #expect(["1", "2", "3"].map { endpoints.find($0)?.removed } == [5, nil, nil])
    try await endpoints.forget(DeviceID(row: 1), at: 6)
    #expect(["1", "2", "3"].map { endpoints.find($0)?.removed } == [5, 6, nil])
  }

  @Test func `a device has a limited number of endpoints, and of removed ones`() async throws {
    for number in 1...Limits.maximumDeviceEndpoints + 1 {
      try await endpoints.add(endpoint("a\(number)"), id: "\(number)")
      try await endpoints.remove("a\(number)", of: device, at: Int64(number))
    }
    #expect(endpoints.find("1") == nil && endpoints.find("2")?.removed == 2)
    let count = try await store.pool.read { db in
      try Int.fetchOne(db, sql: "SELECT count(*) FROM web_push_endpoint")
    }
    #expect(count == Limits.maximumDeviceEndpoints)
    for number in 1...Limits.maximumDeviceEndpoints {
      try await endpoints.add(endpoint("b\(number)"), id: "b\(number)")
    }
    await #expect(throws: RegistrationRefusal.self) { try await endpoints.add(endpoint("c"), id: "c") }
  }
}
