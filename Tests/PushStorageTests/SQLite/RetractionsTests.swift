import Foundation
import PushTesting
import Testing

@testable import PushCore
@testable import PushStorage

@Suite struct RetractionsTests {
  private let folder: TemporaryFolder
  private let store: SQLiteStore
  private let retractions: Retractions

  init() throws {
    folder = try TemporaryFolder()
    store = try SQLiteStore(path: folder.file("push.sqlite"))
    retractions = try Retractions(store: store)
  }

  private func person(_ row: Int64) -> PersonID { PersonID(row: row) }

  @Test func `what was taken back is known, of its person and app, also when it is opened again`() async throws {
    #expect(retractions.isEmpty)
    #expect(try await retractions.add(.number(1), app: 1, from: [person(1), person(2), person(1)], at: 5))
    #expect(try await !retractions.add(.number(1), app: 1, from: [person(2)], at: 6))
    #expect(try await retractions.add(.number(2), app: nil, from: [person(2)], at: 7))
    for retractions in [retractions, try Retractions(store: store)] {
      #expect(!retractions.isEmpty)
      #expect(retractions.contains(.number(1), of: person(1), app: 1))
      #expect(!retractions.contains(.number(1), of: person(1), app: 2))
      #expect(!retractions.contains(.number(1), of: person(3), app: 1))
      #expect(retractions.contains(.number(2), of: person(2), app: 9))
      let all = retractions.retractions(of: person(2))
      #expect(
        all == [
          .init(id: .number(1), person: person(2), app: 1, at: 5),
          .init(id: .number(2), person: person(2), app: nil, at: 7),
        ])
    }
    // A retraction for all apps includes this app.
    #expect(try await !retractions.add(.number(2), app: 3, from: [person(2)], at: 8))
  }

  @Test func `an app has its bound, and the oldest go`() async throws {
    let many = (1...Int64(Limits.maximumRetractions)).map(person)
    _ = try await retractions.add(.number(9), app: 2, from: [person(1)], at: 1)
    _ = try await retractions.add(.number(1), app: 1, from: [person(1)], at: 1)
    _ = try await retractions.add(.number(2), app: 1, from: many, at: 2)
    for retractions in [retractions, try Retractions(store: store)] {
      #expect(!retractions.contains(.number(1), of: person(1), app: 1))
      #expect(retractions.contains(.number(2), of: person(1), app: 1))
      #expect(retractions.contains(.number(9), of: person(1), app: 2))
    }
  }

  @Test(arguments: [1, 40]) func `the rows that go leave the memory, and no others`(_ count: Int) async throws {
    let now = Limits.retractionRetention * 1000
    let apps: [AppID?] = [1, 2, nil]
    for number in 0..<3 * count {
      let (app, id) = (apps[number % 3], APNSID.number(number / 3))
      let time: Int64 = number < 2 * count ? 5 : now
      _ = try await retractions.add(id, app: app, from: [person(1), person(Int64(2 + number % 2))], at: time)
    }
    try await retractions.trim(now: now + 6) { $0 != person(3) }
    let again = try Retractions(store: store)
    for row in 1...3 as ClosedRange<Int64> {
      #expect(retractions.retractions(of: person(row)) == again.retractions(of: person(row)))
      for number in 0..<count {
        for app in [1, 2] as [AppID] {
          let isKnown = retractions.contains(.number(number), of: person(row), app: app)
          #expect(isKnown == again.contains(.number(number), of: person(row), app: app))
        }
      }
    }
    #expect(retractions.retractions(of: person(3)).isEmpty && !retractions.isEmpty)
  }

  @Test func `the oldest go one after another at the limit of an app`() async throws {
    let many = (1...Int64(Limits.maximumRetractions)).map(person)
    _ = try await retractions.add(.number(1), app: 1, from: many, at: 1)
    for number in 2...4 { _ = try await retractions.add(.number(number), app: 1, from: [person(0)], at: 2) }
    #expect(retractions.retractions(of: person(0)).map(\.id) == [.number(2), .number(3), .number(4)])
    let left = many.filter { retractions.contains(.number(1), of: $0, app: 1) }
    #expect(left.count == many.count - 3)
    let again = try Retractions(store: store)
    #expect(left == many.filter { again.contains(.number(1), of: $0, app: 1) })
  }

  @Test func `it is forgotten with its person, and in time`() async throws {
    let now = Limits.retractionRetention * 1000 + 5000
    for (number, at) in [(1, 4999), (2, 5000), (3, now)] as [(Int, Int64)] {
      _ = try await retractions.add(.number(number), app: 1, from: [person(1), person(2)], at: at)
    }
    try await retractions.trim(now: now) { $0 == person(1) }
    #expect(retractions.retractions(of: person(1)).map(\.id) == [.number(2), .number(3)])
    #expect(retractions.retractions(of: person(2)).isEmpty)
    try await retractions.forget(person(1))
    #expect(retractions.isEmpty)
    #expect(try Retractions(store: store).isEmpty)
  }
}
