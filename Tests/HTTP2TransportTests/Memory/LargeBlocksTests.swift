import Testing

@testable import HTTP2Transport

@Suite struct LargeBlocksTests {
  @Test func `blocks do not overlap, are bounded, and are used again`() throws {
    let buffers = try #require(LargeBlocks(count: 3))
    func take() -> UInt? {
      guard let slot = unsafe buffers.take(16_394) else { return nil }
      unsafe slot.initializeMemory(as: UInt8.self, repeating: 7, count: LargeBlocks.size)
      return UInt(bitPattern: slot)
    }
    let places = try (0..<3).map { _ in try #require(take()) }.sorted()
    #expect(zip(places, places.dropFirst()).allSatisfy { $1 - $0 >= LargeBlocks.size })
    #expect(take() == nil)
    let second = unsafe try #require(UnsafeMutableRawPointer(bitPattern: places[1]))
    #expect(unsafe buffers.give(second))
    #expect(take() == places[1])
  }

  @Test func `what is too large, or of another's memory, is left alone`() throws {
    let buffers = try #require(LargeBlocks(count: 1))
    #expect(unsafe buffers.take(LargeBlocks.size + 1) == nil)
    let other = UnsafeMutableRawPointer.allocate(byteCount: 16, alignment: 8)
    defer { unsafe other.deallocate() }
    #expect(unsafe !buffers.give(other))
  }

  @Test func `a block is resized as the heap does it`() throws {
    let buffers = try #require(LargeBlocks(count: 1))
    let first = unsafe try #require(buffers.resize(nil, 16_384))
    #expect(unsafe buffers.owns(first))
    unsafe first.storeBytes(of: 42, as: UInt8.self)
    #expect(unsafe buffers.resize(first, LargeBlocks.size) == first)
    let larger = unsafe try #require(buffers.resize(first, LargeBlocks.size + 1))
    #expect(unsafe !buffers.owns(larger))
    #expect(unsafe larger.load(as: UInt8.self) == 42)
    // The block is free again, and a small request does not take it.
    let small = unsafe try #require(buffers.resize(larger, 100))
    #expect(unsafe !buffers.owns(small))
    unsafe small.deallocate()
    let again = unsafe try #require(buffers.take(16_384))
    #expect(unsafe again == first)
    #expect(unsafe buffers.resize(again, 0) == nil)
    #expect(unsafe buffers.take(16_384) == first)
  }
}
