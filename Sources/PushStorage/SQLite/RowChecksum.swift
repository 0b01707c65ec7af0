/// A checksum over the columns of a row: SQLite has none, and a page with a valid structure may contain other bytes
/// than were written.
///
/// Each step is a bijection, so that a change of a single word of eight bytes is always detected, and a change of
/// several words is missed once in 2⁶⁴ times. The checksum costs five instructions per word. It does not protect
/// against an attacker who can write the file.
package struct RowChecksum {
  private var state: UInt64 = 0x9E37_79B9_7F4A_7C15

  package mutating func add(_ number: Int64) { add(word: UInt64(bitPattern: number)) }

  package mutating func add(_ bytes: UnsafeRawBufferPointer) {
    add(word: UInt64(bytes.count))
    var position = 0
    while bytes.count - position >= 8 {
      add(word: unsafe bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self).littleEndian)
      position += 8
    }
    guard position < bytes.count else { return }
    var rest: UInt64 = 0
    for offset in position..<bytes.count { rest = unsafe rest << 8 | UInt64(bytes[offset]) }
    add(word: rest)
  }

  private mutating func add(word: UInt64) {
    state = (state ^ word) &* 0xD6E8_FEB8_6659_FD93
    state ^= state >> 32
  }

  /// The checksum as the value of a column.
  package var value: Int64 { Int64(bitPattern: state) }
}
