import Glibc
import Synchronization

/// Blocks of 20 KiB on pages of their own, for buffers that would fragment the heap: they live for one record, next
/// to allocations that live as long as a connection.
///
/// Address space is reserved at once, memory is used when it is first accessed.
@safe package final class LargeBlocks: Sendable {
  /// The blocks for TLS records while they are read and written.
  package static let records = PlainMalloc.isOn ? nil : LargeBlocks(count: 8192)

  /// The size of a block in bytes; the largest request is a TLS record with its overhead.
  package static let size = 20_480
  /// The minimum size in bytes; smaller allocations come from the heap.
  package static let smallest = 16_384

  nonisolated(unsafe) private let start: UnsafeMutableRawPointer
  private let count: Int
  private let slots: Mutex<Slots>

  private struct Slots {
    var free: [Int] = []
    /// The index of the first block that was never used.
    var fresh = 0
  }

  /// - Parameter count: the maximum number of blocks.
  /// - Returns: nil if the address space can't be reserved.
  package init?(count: Int) {
    let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
    guard let start = unsafe mmap(nil, count * LargeBlocks.size, PROT_READ | PROT_WRITE, flags, -1, 0),
      unsafe start != MAP_FAILED
    else { return nil }
    unsafe self.start = unsafe start
    self.count = count
    slots = Mutex(Slots())
  }

  deinit { unsafe munmap(start, count * LargeBlocks.size) }

  package func owns(_ memory: UnsafeMutableRawPointer) -> Bool {
    unsafe memory >= start && memory < start + count * LargeBlocks.size
  }

  /// Returns the block that was returned last; nil if `size` is out of range, or all blocks are in use.
  package func take(_ size: Int) -> UnsafeMutableRawPointer? {
    guard size >= LargeBlocks.smallest, size <= LargeBlocks.size else { return nil }
    let slot: Int? = slots.withLock { slots in
      if let slot = slots.free.popLast() { return slot }
      guard slots.fresh < count else { return nil }
      slots.fresh += 1
      return slots.fresh - 1
    }
    return unsafe slot.map { unsafe start + $0 * LargeBlocks.size }
  }

  /// Takes back a block.
  ///
  /// - Returns: false if the memory is not one of these blocks.
  @discardableResult
  package func give(_ memory: UnsafeMutableRawPointer) -> Bool {
    guard unsafe owns(memory) else { return false }
    let slot = unsafe (memory - start) / LargeBlocks.size
    slots.withLock { $0.free.append(slot) }
    return true
  }

  /// Resizes an allocation, like `realloc`, for these blocks and all other memory.
  package func resize(_ memory: UnsafeMutableRawPointer?, _ size: Int) -> UnsafeMutableRawPointer? {
    guard let memory = unsafe memory else { return unsafe take(size) ?? malloc(size) }
    guard unsafe owns(memory) else { return unsafe realloc(memory, size) }
    if size > 0, size <= LargeBlocks.size { return unsafe memory }
    if size > 0 {
      guard let other = unsafe malloc(size) else { return nil }
      unsafe other.copyMemory(from: memory, byteCount: LargeBlocks.size)
      unsafe give(memory)
      return unsafe other
    }
    unsafe give(memory)
    return nil
  }
}
