import PushTesting
import Synchronization
import Testing

@testable import PushGateway

@Suite struct SharedQuestionTests {
  /// A question that the test answers, and a clock that the test advances.
  final class Scene: Sendable {
    let asked = Mutex(0)
    let clock = Mutex(ContinuousClock.now)
    let (answers, answer) = AsyncStream.makeStream(of: Bool.self)

    var question: SharedQuestion {
      SharedQuestion {
        self.asked.withLock { $0 += 1 }
        return await self.answers.first { _ in true } ?? false
      } now: {
        self.clock.withLock { $0 }
      }
    }
  }

  @Test func `a question is asked once for all who ask meanwhile, and again after a second`() async {
    let scene = Scene()
    let question = scene.question
    scene.answer.yield(true)
    let answers = await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<1000 { group.addTask { await question.answer() } }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(answers == Array(repeating: true, count: 1000))
    #expect(scene.asked.withLock { $0 } == 1)
    scene.clock.withLock { $0 += .seconds(1) }
    scene.answer.yield(false)
    #expect(await !question.answer())
    #expect(await !question.answer())
    #expect(scene.asked.withLock { $0 } == 2)
  }
}
