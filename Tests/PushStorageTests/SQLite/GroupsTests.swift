import Foundation
import GRDB
import PushTesting
import Testing

@testable import PushCore
@testable import PushStorage

@Suite struct GroupsTests {
  private let folder: TemporaryFolder
  private let store: SQLiteStore
  private let groups: Groups

  init() throws {
    folder = try TemporaryFolder()
    store = try SQLiteStore(path: folder.file("push.sqlite"))
    groups = try Groups(store: store)
  }

  private func person(_ row: Int64) -> PersonID { PersonID(row: row) }

  @Test func `an address is a group and an environment, and no device`() {
    for group in [1, 2, 500] as [Int64] {
      for environment in Environment.allCases {
        let address = GroupAddress(group: group, environment: environment)
        #expect(address.device.isGroup && GroupAddress(address.device) == address)
      }
    }
    for row in [1, 0, -1, Int64.max, Int64.min] { #expect(GroupAddress(DeviceID(row: row)) == nil) }
    #expect(!DeviceID(row: -1).isGroup)
  }

  @Test func `what is done is done when it is opened again`() async throws {
    _ = try await groups.add("ops", [person(2), person(1), person(2)])
    let ops = try await groups.add("ops", [person(1), person(3)])
    let all = try await groups.add("all", [person(1)])
    try await groups.remove(person(2), from: ops)
    let kept = try await groups.register(ops, app: 1, environment: .development)
    #expect(try await groups.register(ops, app: 1, environment: .development).token == kept.token)
    let production = try await groups.register(ops, app: 1, environment: .production)
    #expect(production.token != kept.token)
    let ended = try await groups.register(all, app: 1, environment: .development)
    try await groups.unregister(all, app: 1, now: 7)
    try await groups.forget { $0 == person(3) }
    for groups in [groups, try Groups(store: store)] {
      #expect(groups.groups.map(\.name) == ["all", "ops"])
      #expect(try groups.group(named: "ops").members == [person(1)])
      #expect(groups.registration(kept.token)?.device == ops.address(in: .development))
      #expect(groups.registration(production.token)?.environment == .production)
      #expect(groups.registration(ended.token)?.unregistered == 7)
      #expect(groups.registrations(of: all).isEmpty && groups.registrations(of: ops).count == 2)
      #expect(groups.group(at: ops.address(in: .production))?.name == "ops")
    }
    try await groups.remove(all, now: 8)
    try await groups.remove(ops, now: 9)
    for groups in [groups, try Groups(store: store)] {
      #expect(groups.groups.isEmpty)
      #expect(groups.registration(kept.token)?.unregistered == 9)
      #expect(groups.registration(ended.token)?.unregistered == 7)
    }
    // A group that is created again is a new one: the pushes to the old one do not belong to it.
    #expect(try await groups.add("ops", []).id > ops.id)
  }

  @Test func `what can't be is refused`() async throws {
    for name in ["", "a/b", "\u{1B}[2J"] {
      await #expect(throws: RegistrationRefusal.self) { _ = try await groups.add(name, []) }
    }
    let many = (1...Int64(Limits.maximumGroupMembers)).map(person)
    let ops = try await groups.add("ops", many)
    await #expect(throws: RegistrationRefusal.self) { _ = try await groups.add("ops", [person(0)]) }
    await #expect(throws: RegistrationRefusal.self) { try await groups.remove(person(0), from: ops) }
    await #expect(throws: RegistrationRefusal.self) { try await groups.unregister(ops, app: 1, now: 1) }
    #expect(throws: RegistrationRefusal.self) { try groups.requireFree("ops") }
    #expect(throws: RegistrationRefusal.self) { _ = try groups.group(named: "none") }
  }

  @Test func `there are so many groups at most`() async throws {
    for number in 0..<Limits.maximumGroups { _ = try await groups.add("g\(number)", []) }
    await #expect(throws: RegistrationRefusal.self) { _ = try await groups.add("more", []) }
  }

  @Test func `the first answer of all to whom a push went counts, also after a crash`() async throws {
    let ops = try await groups.add("ops", [person(1), person(2)])
    let address = ops.address(in: .development)
    try await note(1, [1, 2], address)
    // The push is sent again after a further member joined.
    _ = try await groups.add("ops", [person(3)])
    try await note(1, [2, 3], address)
    #expect(try await groups.persons(of: .number(1), app: 1, at: address) == [person(1), person(2), person(3)])
    #expect(try await groups.persons(of: .number(1), app: 2, at: address) == [])
    let answers = Answers(store: store)
    let closed = try await take(answers, 1, "close", by: 1, isPick: false)
    #expect(closed.isFirst && closed.persons == [person(1)])
    let first = try await take(answers, 1, "approve", by: 2)
    #expect(first.isFirst && first.persons == [person(1), person(2), person(3)])
    let later = Answers(store: store)
    for (action, isPick) in [("deny", true), ("approve", true), ("close", false)] {
      let taken = try await take(later, 1, action, by: 3, isPick: isPick)
      #expect(!taken.isFirst && taken.counting.action == "approve" && taken.counting.person == person(2))
    }
    // A user outside the group, and a push of another app with the same id, have their own answers.
    #expect(try await take(later, 1, "deny", by: 9).persons == [person(9)])
    #expect(try await take(later, 1, "deny", by: 8, app: 2).isFirst)
    try await groups.trim(now: Limits.answerRetention * 1000 + 6)
    #expect(try await groups.persons(of: .number(1), app: 1, at: address) == [])
  }

  @Test(arguments: [true, false])
  func `who has left a group answers for nobody`(isGroupRemoved: Bool) async throws {
    let ops = try await groups.add("ops", [person(1), person(2)])
    try await note(1, [1, 2], ops.address(in: .development))
    let answers = Answers(store: store)
    if isGroupRemoved { try await groups.remove(ops, now: 6) } else { try await groups.remove(person(1), from: ops) }
    #expect(try await takenOrNot(answers, 1, "approve", by: 1) == nil)
    #expect(try await answers.answers(since: 0).isEmpty)
    // A closed alert counts for its user alone, member or not.
    #expect(try await take(answers, 1, "close", by: 1, isPick: false).persons == [person(1)])
    guard !isGroupRemoved else { return }
    #expect(try await take(answers, 1, "deny", by: 2).isFirst)
    // After the user has joined again, the answers of the others count.
    _ = try await groups.add("ops", [person(1)])
    #expect(try await take(answers, 1, "approve", by: 1).counting.action == "deny")
  }

  @Test func `of two groups with a push of the same id the one that a person is still in is answered`() async throws {
    let (ops, night) = (
      try await groups.add("ops", [person(1)]), try await groups.add("night", [person(1), person(2)])
    )
    try await note(1, [1, 2], night.address(in: .development))
    try await note(1, [1], ops.address(in: .development))
    try await groups.remove(person(1), from: ops)
    #expect(try await take(Answers(store: store), 1, "approve", by: 1).persons == [person(1), person(2)])
  }

  @Test func `recipients that the disk refuses are reported as not durable, and the next ones are stored`() async throws
  {
    let address = try await groups.add("ops", [person(1)]).address(in: .development)
    try await store.pool.write { db in
      try db.execute(sql: "CREATE TRIGGER full BEFORE INSERT ON group_push BEGIN SELECT RAISE(ABORT, 'no room'); END")
    }
    #expect(await !isDurable(1, [1], address))
    try await store.pool.write { try $0.execute(sql: "DROP TRIGGER full") }
    #expect(await isDurable(2, [1], address))
    await groups.settle()
    #expect(try await groups.persons(of: .number(1), app: 1, at: address) == [])
    #expect(try await groups.persons(of: .number(2), app: 1, at: address) == [person(1)])
  }

  private func note(_ number: Int, _ persons: [Int64], _ address: DeviceID) async throws {
    #expect(await isDurable(number, persons, address))
  }

  private func isDurable(_ number: Int, _ persons: [Int64], _ address: DeviceID) async -> Bool {
    let push = Groups.Push(address: address, app: 1, id: .number(number), persons: persons.map(person), at: 5)
    return await withCheckedContinuation { done in groups.note(push) { done.resume(returning: $0) } }
  }

  private func take(
    _ answers: Answers, _ number: Int, _ action: String, by row: Int64, app: AppID = 1, isPick: Bool = true
  ) async throws -> Answers.Taken {
    try #require(try await takenOrNot(answers, number, action, by: row, app: app, isPick: isPick))
  }

  private func takenOrNot(
    _ answers: Answers, _ number: Int, _ action: String, by row: Int64, app: AppID = 1, isPick: Bool = true
  ) async throws -> Answers.Taken? {
    let answer = Answer(
      id: .number(number), person: person(row), action: action, device: DeviceID(row: row), app: app, at: 1000)
    return try await withCheckedThrowingContinuation { continuation in
      answers.take(answer, isPick: isPick) { continuation.resume(with: $0) }
    }
  }
}
