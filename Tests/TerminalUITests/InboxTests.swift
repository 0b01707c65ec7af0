import TaskTesting
import Testing

@testable import TerminalUI

@Suite(.timeLimit(.minutes(5))) struct InboxTests {
  private let executor = ManualExecutor()

  @Test func `keys overtake messages, which come in batches`() async {
    let inbox = Inbox<Int>()
    for _ in 0...Inbox<Int>.maximumBatch { await inbox.send(1) }
    inbox.post(.input(.key(.escape)))
    let first = await inbox.take()
    #expect(first.count == Inbox<Int>.maximumBatch + 1)
    guard case .input(.key(.escape)) = first.first else {
      Issue.record("the key waits behind messages")
      return
    }
    #expect(await inbox.take().count == 1)
  }

  @Test func `a sender waits when the inbox is full, and goes on when it is taken from`() async {
    let inbox = Inbox<Int>()
    let count = Inbox<Int>.maximumMessages + 100
    let sender = executor.start {
      for _ in 0..<count { await inbox.send(1) }
    }
    #expect(inbox.waitingCount == 1 && !sender.isDone)
    var taken = 0
    while taken < count {
      taken += await inbox.take().count
      executor.run()
    }
    #expect(sender.isDone)
    #expect(taken == count)
  }

  @Test func `a closed inbox holds nobody up, and keeps nothing more`() async {
    let inbox = Inbox<Int>()
    let sender = executor.start {
      for _ in 0...Inbox<Int>.maximumMessages { await inbox.send(1) }
    }
    // The last message does not fit into the inbox.
    #expect(inbox.waitingCount == 1 && !sender.isDone)
    inbox.close()
    executor.run()
    #expect(sender.isDone)
    var taken = 0
    while true {
      let count = await inbox.take().count
      if count == 0 { break }
      taken += count
    }
    #expect(taken == Inbox<Int>.maximumMessages)
    // The inbox has space again.
    #expect(executor.start { await inbox.send(1) }.isDone)
    inbox.post(.input(.key(.escape)))
    #expect(await inbox.take().isEmpty)
  }
}
