import Glibc

// What the standard library does byte by byte, done by the C library many at a time.

extension ArraySlice<UInt8> {
  /// Whether these are the same bytes.
  func isSame(as other: [UInt8]) -> Bool {
    guard count == other.count else { return false }
    return unsafe withUnsafeBytes { mine in
      unsafe other.withUnsafeBytes { theirs in
        guard let mine = mine.baseAddress, let theirs = theirs.baseAddress else { return true }
        return unsafe memcmp(mine, theirs, count) == 0
      }
    }
  }
}

extension [UInt8] {
  /// Whether these are the same bytes.
  func isSame(as other: [UInt8]) -> Bool { self[...].isSame(as: other) }

  /// Whether a byte occurs.
  func holds(_ byte: UInt8) -> Bool {
    unsafe withUnsafeBytes { bytes in
      guard let start = bytes.baseAddress else { return false }
      return unsafe memchr(start, Int32(byte), count) != nil
    }
  }
}
