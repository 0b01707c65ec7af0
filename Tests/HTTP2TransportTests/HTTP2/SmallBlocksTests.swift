import CNGHTTP2
import Glibc
import PushTesting
import Testing

@testable import HTTP2Transport
@testable import PushCore

@Suite(.enabled(if: !PlainMalloc.isOn)) struct SmallBlocksTests {
  @Test func `blocks of every size hold what is written, however they come and go`() throws {
    var blocks = SmallBlocks()
    var random = SplitMix64(state: 1)
    var held: [(start: UnsafeMutableRawPointer, size: Int, mark: UInt8)] = unsafe []
    for round in 0..<20_000 {
      if unsafe held.count > 100 || (round > 19_000 && !held.isEmpty) {
        let (start, size, mark) = unsafe held.remove(at: Int(random.next() % UInt64(held.count)))
        #expect(unsafe UnsafeRawBufferPointer(start: start, count: size).allSatisfy { $0 == mark })
        unsafe blocks.give(start)
      } else {
        let (size, mark) = (Int(random.next() % 700), UInt8(truncatingIfNeeded: round))
        let start = try unsafe #require(blocks.take(size))
        unsafe start.initializeMemory(as: UInt8.self, repeating: mark, count: size)
        unsafe held.append((start, size, mark))
      }
    }
    while let last = unsafe held.popLast() { unsafe blocks.give(last.start) }
    #expect(blocks.count > 0)
  }

  @Test(arguments: [1, 24, 25, 100, 504])
  func `a block is used again for its size and for no larger one`(_ size: Int) throws {
    var blocks = SmallBlocks()
    let block = try unsafe #require(blocks.take(size))
    unsafe blocks.give(block)
    #expect(blocks.count == 1)
    let larger = try unsafe #require(blocks.take(size + 32))
    #expect(unsafe larger != block)
    #expect(unsafe blocks.take(size) == block)
    #expect(blocks.count == 0)
    unsafe blocks.give(block)
    unsafe blocks.give(larger)
  }

  @Test func `a block that is larger than was asked for serves the size below it`() throws {
    var blocks = SmallBlocks()
    // malloc sometimes returns 136 usable bytes for a request of 120, because the rest of a free block would be too
    // small for a block. The same may happen to a request of 136, so the test takes a block of exactly that size.
    var others: [UnsafeMutableRawPointer] = unsafe []
    defer { while let other = unsafe others.popLast() { unsafe free(other) } }
    var block = try unsafe #require(malloc(136))
    while unsafe malloc_usable_size(block) != 136 {
      unsafe others.append(block)
      unsafe block = try unsafe #require(malloc(136))
    }
    unsafe blocks.give(block)
    #expect(blocks.count == 1)
    let larger = try unsafe #require(blocks.take(136))
    #expect(unsafe larger != block)
    let same = try unsafe #require(blocks.take(120))
    #expect(unsafe same == block)
    unsafe blocks.give(larger)
    unsafe blocks.give(same)
  }

  @Test func `large blocks are the heap's, and blocks of the heap may end here`() throws {
    var blocks = SmallBlocks()
    unsafe blocks.give(nil)
    let large = try unsafe #require(blocks.take(600))
    unsafe blocks.give(large)
    #expect(blocks.count == 0)
    unsafe blocks.give(malloc(100))
    unsafe blocks.give(calloc(10, 50))
    let small = try unsafe #require(blocks.take(100))
    #expect(unsafe realloc(small, 5000).map { unsafe free($0) } != nil)
  }

  @Test func `no more wait than were likely to be used at once`() throws {
    var blocks = SmallBlocks()
    var many: [UnsafeMutableRawPointer] = unsafe []
    for _ in 0..<2000 { unsafe many.append(try #require(blocks.take(64))) }
    while let block = unsafe many.popLast() { unsafe blocks.give(block) }
    #expect(blocks.count == 1024)
  }
}
