import Foundation
import GRDB
import PushTesting
import Synchronization
import Testing

@testable import PushCore
@testable import PushPolicy
@testable import PushStorage

/// Lookups of registrations before all of them have been read.
@Suite(.timeLimit(.minutes(5))) struct LateRegistrationsTests {
  let folder: TemporaryFolder
  let path: String
  private let gate = DispatchSemaphore(value: 0)

  init() throws {
    folder = try TemporaryFolder()
    path = folder.file("push.sqlite")
  }

  private func open() throws -> SQLiteRegistrations { try SQLiteRegistrations(store: try SQLiteStore(path: path)) }

  /// Opens registrations that are read when the gate is signaled.
  private func late(failed: @escaping @Sendable (StoreError) -> Void = { _ in }) throws -> SQLiteRegistrations {
    let gate = gate
    return try SQLiteRegistrations(
      store: try SQLiteStore(path: path), rowsReadAtOnce: 0, willRead: { gate.wait() }, failed: failed)
  }

  /// Returns the results of all lookups, as texts.
  private func lookUp(_ home: SQLiteRegistrations, secrets: [String], tokens: [DeviceToken]) throws -> [String] {
    var lines: [String] = []
    for row in Int64(1)...5 {
      let (device, person) = (DeviceID(row: row), PersonID(row: row))
      lines.append("\(String(describing: home.device(device))) \(home.preferences(of: device))")
      lines.append("\(home.registrations(of: device))")
      lines.append("\(String(describing: home.person(person))) \(home.devices(of: person))")
    }
    for name in ["phone", "tablet", "gone", "nobody"] {
      lines.append(
        "\(String(describing: try? home.device(named: name))) \(String(describing: try? home.person(named: name)))")
    }
    lines += secrets.map { "\(String(describing: home.device(secret: $0)))" }
    lines += tokens.map { "\(String(describing: home.registration($0)))" }
    return lines
  }

  @Test func `what is stored is found, whether it has been read or not`() async throws {
    let before = try open()
    _ = try await before.putApp(topic: "a.b", name: "A", icon: "🐝", policyMode: .enforce)
    _ = try await before.putApp(topic: "c.d", name: "C", icon: "🐝", policyMode: .enforce)
    var (secrets, tokens): ([String], [DeviceToken]) = ([], [.random()])
    for (name, person) in [("phone", "anna"), ("gone", "ben"), ("tablet", "anna"), ("watch", nil)] {
      let (device, secret) = try await before.enroll(name: name, person: person)
      secrets.append(secret)
      for topic in ["c.d", "a.b"] {
        tokens.append(
          try await before.register(device.id, topic: topic, environment: .production, expires: 9000, now: 1).token)
      }
    }
    let anna = try before.person(named: "anna")
    _ = try await before.changePreferences(of: anna.id) { $0.parts.sound = false }
    try await before.note(seen: [try before.device(named: "phone").id: 1234])
    try await before.unregister(try before.device(named: "tablet").id, topic: "a.b", now: 5)
    _ = try await before.remove(try before.device(named: "gone").id, now: 6)
    let expected = try lookUp(open(), secrets: secrets, tokens: tokens)

    let home = try late()
    #expect(try lookUp(home, secrets: secrets, tokens: tokens) == expected)
    gate.signal()
    home.waitUntilRead()
    #expect(try lookUp(home, secrets: secrets, tokens: tokens) == expected)
    #expect(home.devices.map(\.name) == ["phone", "tablet", "watch"])
  }

  @Test func `a change waits until all has been read, and is seen afterwards`() async throws {
    let before = try open()
    let (phone, _) = try await before.enroll(name: "phone", person: "anna")
    let home = try late()
    // Teams, keys and apps have no owner that is still to be read, so this change does not wait.
    let app = try await home.putApp(topic: "a.b", name: "A", icon: "🐝", policyMode: .enforce)
    let hasEnded = Mutex(false)
    async let token = {
      let token = try await home.register(phone.id, topic: "a.b", environment: .production, expires: nil, now: 1).token
      hasEnded.withLock { $0 = true }
      return token
    }()
    async let secret = home.rotateSecret(of: phone.id)
    #expect(home.registrations(of: phone.id).isEmpty)
    #expect(!hasEnded.withLock { $0 })
    gate.signal()
    #expect(try await home.registration(token)?.1.id == app.id)
    #expect(try await home.device(secret: secret)?.id == phone.id)
    #expect(home.registrations(of: phone.id).count == 1)
  }

  @Test func `what can't be read is told before anything is answered for it`() async throws {
    let store = try SQLiteStore(path: path)
    let before = try SQLiteRegistrations(store: store)
    let (phone, _) = try await before.enroll(name: "phone", person: "anna")
    try await store.pool.write { try $0.execute(sql: "UPDATE device SET last_seen = -5") }
    let told = Mutex<StoreError?>(nil)
    let home = try late { error in told.withLock { $0 = error } }
    gate.signal()
    #expect(home.device(phone.id) == nil)
    #expect(told.withLock { $0 }?.isDamage == true)
    await #expect(throws: StoreError.self) { try await home.rotateSecret(of: phone.id) }
  }
}
