import CNGHTTP2
import Glibc

/// Small blocks of the heap that wait for their next use, by size.
///
/// nghttp2 takes six blocks for each request and gives them back when its stream closes. With some tens of streams open at
/// once that is more than the C library keeps at hand, and it goes the long way for most of them.
///
/// Every block is one of `malloc`, so that any may end here, and any from here may be resized or freed there. Belongs to
/// one loop.
@safe package struct SmallBlocks: ~Copyable {
  /// The first block of each size; in each block is the address of the next.
  private var lists = unsafe [16 of UnsafeMutableRawPointer?](repeating: nil)
  private var counts = [16 of Int](repeating: 0)

  /// What the sizes differ by; of each block the C library has 8 bytes to itself.
  private static let step = 32
  private static let overhead = 8
  /// How many of one size wait at most.
  private static let maximumCount = 1024

  /// A block of at least `size` bytes; nil when there is no memory.
  package mutating func take(_ size: Int) -> UnsafeMutableRawPointer? {
    let index = (size + SmallBlocks.overhead - 1) / SmallBlocks.step
    guard !PlainMalloc.isOn, index < counts.count else { return unsafe malloc(size) }
    guard let block = unsafe lists[index] else {
      return unsafe malloc((index + 1) * SmallBlocks.step - SmallBlocks.overhead)
    }
    unsafe lists[index] = unsafe block.load(as: UnsafeMutableRawPointer?.self)
    counts[index] -= 1
    return unsafe block
  }

  /// Takes a block back.
  package mutating func give(_ block: UnsafeMutableRawPointer?) {
    guard let block = unsafe block else { return }
    // Of a block that is larger than was asked for the rest stays unused.
    let index = unsafe (malloc_usable_size(block) + SmallBlocks.overhead) / SmallBlocks.step
    guard !PlainMalloc.isOn, (1...counts.count).contains(index), counts[index - 1] < SmallBlocks.maximumCount else {
      return unsafe free(block)
    }
    unsafe block.storeBytes(of: lists[index - 1], as: UnsafeMutableRawPointer?.self)
    unsafe lists[index - 1] = unsafe block
    counts[index - 1] += 1
  }

  /// How many blocks wait.
  package var count: Int { counts.indices.reduce(0) { $0 + counts[$1] } }

  deinit {
    for index in counts.indices {
      var next = unsafe lists[index]
      while let block = unsafe next {
        unsafe next = unsafe block.load(as: UnsafeMutableRawPointer?.self)
        unsafe free(block)
      }
    }
  }
}
