import PushTesting
import Testing

@testable import PushCore
@testable import PushGateway
@testable import PushStorage

/// The periodic work of a gateway while the disk refuses its writes.
@Suite(.timeLimit(.minutes(5))) struct MaintenanceTests {
  private func failures(_ lines: LimitLogTests.Lines) -> [String] {
    lines.all.filter { $0.hasPrefix("event=maintenance-failed") }
  }

  @Test func `a failure of a part is logged once until the part succeeds, and the other parts continue`() async throws {
    let lines = LimitLogTests.Lines()
    try await TestGateway.run(logger: lines.logger) { gateway in
      let (parts, path) = (gateway.parts, gateway.folder.file("push.sqlite"))
      // The answer of a user that does not exist is removed.
      let answer = Answer(id: .number(1), person: PersonID(row: 99), action: "view", device: 1, app: 1, at: 1)
      func take() async { await withCheckedContinuation { done in parts.answers.take(answer) { _ in done.resume() } } }
      await take()
      try await RefusedWrites.begin("answer", "DELETE", in: path)
      for _ in 0..<2 { await parts.maintain() }
      #expect(failures(lines) == ["event=maintenance-failed part=answers"])
      #expect(try await parts.answers.answers(since: 0).count == 1)
      try await RefusedWrites.end("answer", in: path)
      await parts.maintain()
      #expect(try await parts.answers.answers(since: 0).isEmpty)
      await take()
      try await RefusedWrites.begin("answer", "DELETE", in: path)
      await parts.maintain()
      #expect(failures(lines) == Array(repeating: "event=maintenance-failed part=answers", count: 2))
      try await RefusedWrites.end("answer", in: path)
    }
  }

  @Test func `the failure of a part is none of another part`() async throws {
    let lines = LimitLogTests.Lines()
    let work = RepeatedWork(logger: lines.logger)
    for isRefused in [true, true, false, true] {
      await work.attempt("tokens") { if isRefused { throw StoreError("no room") } }
      await work.attempt("senders") {}
    }
    #expect(failures(lines) == Array(repeating: "event=maintenance-failed part=tokens", count: 2))
  }
}
