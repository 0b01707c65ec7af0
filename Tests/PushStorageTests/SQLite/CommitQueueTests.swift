import Synchronization
import Testing

@testable import PushStorage

@Suite(.timeLimit(.minutes(5))) struct CommitQueueTests {
  private let queue = CommitQueue<Int, String>()
  private let disk = Disk()
  private let record = Record()

  private func append(_ changes: Int...) {
    queue.append(changes, commit: disk.commit) { [record] in record.note($0) }
  }

  @Test func `changes during a commit join the next one, in their order`() async throws {
    append(1)
    let first = try #require(await disk.next())
    #expect(first.changes == [1])
    append(2)
    append(3, 4)
    append(5)
    #expect(queue.pending == [1, 2, 3, 4, 5])
    first.end(.success(["one"]))
    let second = try #require(await disk.next())
    #expect(second.changes == [2, 3, 4, 5])
    #expect(record.outcomes == ["one"])
    #expect(queue.pending == [2, 3, 4, 5])
    second.end(.success(["two", "three", "four", "five"]))
    await queue.settle()
    #expect(record.outcomes == ["one", "two", "three", "four", "five"])
    #expect(queue.pending.isEmpty)
  }

  @Test func `a failed commit fails its own changes and no others`() async throws {
    append(1)
    let first = try #require(await disk.next())
    append(2, 3)
    first.end(.success(["one"]))
    let second = try #require(await disk.next())
    append(4)
    var error = StoreError("the disk is full")
    error.isDiskFull = true
    second.end(.failure(error))
    let third = try #require(await disk.next())
    #expect(third.changes == [4])
    third.end(.success(["four"]))
    await queue.settle()
    #expect(record.outcomes == ["one", "full: the disk is full", "full: the disk is full", "four"])
  }

  @Test func `settle returns when the changes of all commits have their outcomes`() async throws {
    append(1)
    let first = try #require(await disk.next())
    append(2)
    // An immediate task has begun to wait when the test continues.
    let settled = Task.immediate { [queue, record] in
      await queue.settle()
      return record.outcomes
    }
    first.end(.success(["one"]))
    let second = try #require(await disk.next())
    append(3)
    second.end(.failure(StoreError("damaged")))
    let third = try #require(await disk.next())
    third.end(.success(["three"]))
    #expect(await settled.value == ["one", "failed: damaged", "three"])
  }

  @Test func `an empty queue is settled, also after a commit, and commits again`() async throws {
    await queue.settle()
    append()
    await queue.settle()
    for number in 1...3 {
      append(number)
      let commit = try #require(await disk.next())
      #expect(commit.changes == [number])
      commit.end(.success(["\(number)"]))
      await queue.settle()
    }
    #expect(record.outcomes == ["1", "2", "3"])
  }
}

/// A disk whose commits the test ends.
private final class Disk: Sendable {
  struct Commit: Sendable {
    var changes: [Int]
    fileprivate var continuation: CheckedContinuation<Result<[String], StoreError>, Never>

    func end(_ result: Result<[String], StoreError>) { continuation.resume(returning: result) }
  }

  private let (begun, source) = AsyncStream.makeStream(of: Commit.self)

  /// Begins a commit, and returns when the test ends it.
  func commit(_ changes: [Int]) async throws(StoreError) -> [String] {
    let result: Result<[String], StoreError> = await withCheckedContinuation { continuation in
      source.yield(Commit(changes: changes, continuation: continuation))
    }
    return try result.get()
  }

  /// Returns the next commit when it has begun.
  func next() async -> Commit? { await begun.first { _ in true } }
}

/// The outcomes of changes, in the order in which they were reported.
private final class Record: Sendable {
  private let noted = Mutex<[String]>([])

  var outcomes: [String] { noted.withLock { $0 } }

  func note(_ result: Result<String, StoreError>) {
    let words =
      switch result {
      case .success(let outcome): outcome
      case .failure(let error): "\(error.isDiskFull ? "full" : "failed"): \(error)"
      }
    noted.withLock { $0.append(words) }
  }
}
