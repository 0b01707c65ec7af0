import Testing

@testable import TerminalUI

@Suite(.timeLimit(.minutes(5))) struct InboxTests {
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
    let sender = Task {
      for _ in 0..<count { await inbox.send(1) }
    }
    while inbox.waitingCount == 0 { try? await Task.sleep(for: .milliseconds(1)) }
    var taken = 0
    while taken < count { taken += await inbox.take().count }
    await sender.value
    #expect(taken == count)
  }

  @Test func `a closed inbox holds nobody up, and keeps nothing more`() async {
    let inbox = Inbox<Int>()
    let sender = Task {
      for _ in 0...Inbox<Int>.maximumMessages { await inbox.send(1) }
    }
    // The last one does not fit.
    while inbox.waitingCount == 0 { try? await Task.sleep(for: .milliseconds(1)) }
    inbox.close()
    await sender.value
    await inbox.send(1)
    var taken = 0
    while true {
      let count = await inbox.take().count
      if count == 0 { break }
      taken += count
    }
    #expect(taken == Inbox<Int>.maximumMessages)
  }
}
