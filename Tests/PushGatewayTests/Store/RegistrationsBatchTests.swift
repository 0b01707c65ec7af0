import Foundation
import Testing

@testable import PushGateway

@Suite struct RegistrationsBatchTests {
  private let folder: TemporaryFolder
  private let store: SQLiteStore
  private let registrations: SQLiteRegistrations

  init() async throws {
    folder = try TemporaryFolder()
    store = try SQLiteStore(path: folder.file("push.sqlite"))
    registrations = try SQLiteRegistrations(store: store)
    _ = try await registrations.putApp(topic: "com.example.news", name: "News", icon: "📰", policyMode: .enforce)
  }

  private func enrol(_ name: String, _ numbers: Range<Int>) async throws -> [BatchDevice] {
    try await registrations.enrol(
      batch: name, numbers: numbers, topic: "com.example.news", environment: .development)
  }

  @Test func `each device of a batch has a name, a person, a secret and a token, also after a restart`() async throws {
    let devices = try await enrol("load", 3..<6)
    for registrations in [registrations, try SQLiteRegistrations(store: store)] {
      #expect(registrations.devices.map(\.name) == ["load-3", "load-4", "load-5"])
      #expect(Set(registrations.devices.map(\.person)).count == 3)
      for (place, device) in devices.enumerated() {
        let known = try #require(registrations.device(secret: device.secret))
        #expect(known.name == "load-\(place + 3)")
        let token = try #require(DeviceToken(hex: Array(device.token.utf8)[...]))
        #expect(registrations.registration(token)?.0.device == known.id)
        #expect(registrations.registrations(of: known.id).map(\.1.topic) == ["com.example.news"])
      }
    }
  }

  @Test func `removing a batch leaves every other device`() async throws {
    let gone = try await enrol("load", 0..<2)
    let other = try await enrol("load-2", 0..<1)
    let (named, _) = try await registrations.enrol(name: "load-x", person: nil)
    let (phone, _) = try await registrations.enrol(name: "phone", person: "load-0")
    let removed = try await registrations.remove(batch: "load")
    #expect(removed.count == 2)
    for registrations in [registrations, try SQLiteRegistrations(store: store)] {
      #expect(registrations.devices.map(\.name) == ["load-2-0", "load-x", "phone"])
      #expect(registrations.person(named.person) != nil)
      // Somebody has that person's name.
      #expect(registrations.person(phone.person)?.name == "load-0")
      #expect(registrations.device(secret: gone[0].secret) == nil)
      #expect(registrations.registration(try #require(DeviceToken(hex: Array(gone[0].token.utf8)[...]))) == nil)
      #expect(registrations.device(secret: other[0].secret) != nil)
    }
    // The names are free again.
    _ = try await enrol("load", 1..<2)
  }

  @Test func `a batch is enrolled whole or not at all`() async throws {
    _ = try await registrations.enrol(name: "load-1", person: nil)
    await #expect(throws: RegistrationRefusal.self) { try await enrol("load", 0..<3) }
    #expect(registrations.devices.map(\.name) == ["load-1"])
    #expect(try SQLiteRegistrations(store: store).devices.map(\.name) == ["load-1"])
  }

  @Test(arguments: ["", "with space", "star*", "a[b", String(repeating: "x", count: 33)])
  func `a name that can't be part of a device's is refused`(_ name: String) async throws {
    await #expect(throws: RegistrationRefusal.self) { try await enrol(name, 0..<1) }
    await #expect(throws: RegistrationRefusal.self) { try await registrations.remove(batch: name) }
  }
}
