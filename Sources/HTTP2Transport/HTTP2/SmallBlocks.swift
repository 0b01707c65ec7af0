import CNGHTTP2
import Glibc

/// Free lists of small heap blocks, by size.
///
/// nghttp2 allocates six blocks for each request and frees them when its stream closes. With some tens of open
/// streams these are more blocks than the C library caches, and most of them would take its slow path.
///
/// Every block comes from `malloc`: any block may be returned here, and blocks from here may be resized or freed by
/// the C library. Belongs to one loop.
@safe package struct SmallBlocks: ~Copyable {
  /// The first block of each size; each block contains the address of the next.
  private var lists = unsafe [16 of UnsafeMutableRawPointer?](repeating: nil)
  private var counts = [16 of Int](repeating: 0)

  /// The difference between sizes, in bytes; the C library uses 8 bytes of each block itself.
  private static let step = 32
  private static let overhead = 8
  /// The maximum number of free blocks of one size.
  private static let maximumCount = 1024

  /// Returns a block of at least `size` bytes; nil if there is no memory.
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

  /// Takes back a block that is no longer used.
  package mutating func give(_ block: UnsafeMutableRawPointer?) {
    guard let block = unsafe block else { return }
    // If a block is larger than requested, the rest stays unused.
    let index = unsafe (malloc_usable_size(block) + SmallBlocks.overhead) / SmallBlocks.step
    guard !PlainMalloc.isOn, (1...counts.count).contains(index), counts[index - 1] < SmallBlocks.maximumCount else {
      return unsafe free(block)
    }
    unsafe block.storeBytes(of: lists[index - 1], as: UnsafeMutableRawPointer?.self)
    unsafe lists[index - 1] = unsafe block
    counts[index - 1] += 1
  }

  /// The number of free blocks.
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
