import Queues
import Synchronization
import TaskTesting
import Testing

@Suite(.timeLimit(.minutes(5))) struct BoundedQueueTests {
  private let executor = ManualExecutor()

  @Test func `what is sent comes in order, as much at a time as is asked for`() async {
    let queue = BoundedQueue<Int>(capacity: 10)
    for number in 1...5 { await queue.send(number) }
    #expect(await queue.take(atMost: 2) == [1, 2])
    #expect(await queue.take() == [3, 4, 5])
  }

  @Test func `what is urgent overtakes, also a queue that is full`() async {
    let queue = BoundedQueue<Int>(capacity: 1)
    await queue.send(1)
    queue.post(2)
    queue.post(3)
    #expect(await queue.take(elementsAreWelcome: false) == [2, 3])
    #expect(await queue.take() == [1])
  }

  @Test func `every sender who waits goes on, in the order in which they came`() async {
    let queue = BoundedQueue<Int>(capacity: 1)
    await queue.send(0)
    let senders = (1...3).map { number in executor.start { await queue.send(number) } }
    #expect(queue.waitingCount == 3)
    for number in 0...3 {
      #expect(await queue.take() == [number])
      executor.run()
      // The next sender in the queue continues, and no other.
      #expect(senders.map(\.isDone) == (1...3).map { $0 <= number + 1 })
    }
    #expect(queue.waitingCount == 0)
  }

  @Test func `an element may go beyond the capacity, and keeps the next one out`() async {
    let queue = BoundedQueue<Int>(capacity: 10) { $0 }
    await queue.send(9)
    await queue.send(100)
    let sender = executor.start { await queue.send(1) }
    #expect(await queue.take(atMost: 1) == [9])
    executor.run()
    #expect(queue.waitingCount == 1 && !sender.isDone)
    #expect(await queue.take() == [100])
    executor.run()
    #expect(sender.isDone)
    #expect(await queue.take() == [1])
  }

  @Test func `one who waits for room adds elements in their turn, and has no bound then`() async {
    let queue = BoundedQueue<Int>(capacity: 2)
    await queue.waitForRoom()
    queue.append([1, 2, 3])
    let appender = executor.start {
      await queue.waitForRoom()
      queue.append([4])
    }
    let sender = executor.start { await queue.send(5) }
    #expect(queue.waitingCount == 2)
    #expect(await queue.take(atMost: 1) == [1])
    executor.run()
    #expect(!appender.isDone && queue.waitingCount == 2)
    #expect(await queue.take() == [2, 3])
    executor.run()
    #expect(appender.isDone && sender.isDone)
    #expect(await queue.take().map { Set($0) } == [4, 5])
    queue.finish()
    await queue.waitForRoom()
    queue.append([6])
    #expect(await queue.take() == nil)
  }

  @Test func `one who waits for elements is woken by each of them`() async {
    let queue = BoundedQueue<Int>(capacity: 1)
    let sum = Task {
      var sum = 0
      while let numbers = await queue.take() { sum += numbers.reduce(0, +) }
      return sum
    }
    await withDiscardingTaskGroup { group in
      for number in 1...1_000 { group.addTask { await queue.send(number) } }
    }
    queue.finish()
    #expect(await sum.value == 500_500)
  }

  @Test func `a nudge ends a wait with nothing`() async {
    let queue = BoundedQueue<Int>(capacity: 1)
    await queue.send(1)
    let taken = Task { await queue.take(elementsAreWelcome: false) }
    queue.nudge()
    #expect(await taken.value == [])
    #expect(await queue.take() == [1])
  }

  @Test func `a queue that is finished holds nobody up: what is in there is taken, then nothing`() async {
    let queue = BoundedQueue<Int>(capacity: 1)
    await queue.send(1)
    let sender = executor.start { await queue.send(2) }
    #expect(!sender.isDone)
    queue.finish()
    executor.run()
    #expect(sender.isDone)
    queue.post(4)
    #expect(await queue.take() == [1])
    // Also when the queue has space.
    #expect(executor.start { await queue.send(3) }.isDone)
    #expect(await queue.take() == nil)
    #expect(await queue.take() == nil)
  }

  @Test func `one who waits in vain learns that it is finished`() async {
    let queue = BoundedQueue<Int>(capacity: 1)
    let taken = Task { await queue.take() }
    queue.finish()
    #expect(await taken.value == nil)
  }
}
