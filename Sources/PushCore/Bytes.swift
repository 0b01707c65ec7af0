import Glibc

// What the standard library does byte by byte, done by the C library many at a time.

extension Span<UInt8> {
  /// Whether these are the same bytes.
  package func isSame(as other: [UInt8]) -> Bool {
    unsafe withUnsafeBytes { mine in unsafe other.withUnsafeBytes { theirs in unsafe mine.equals(theirs) } }
  }

  /// Whether these bytes are those of a literal.
  package func equals(_ text: StaticString) -> Bool { unsafe withUnsafeBytes { unsafe $0.equals(text) } }

  /// Whether these bytes begin with those of a literal.
  package func starts(with text: StaticString) -> Bool {
    count >= text.utf8CodeUnitCount && extracting(first: text.utf8CodeUnitCount).equals(text)
  }
}

extension Span<UInt8> {
  /// A number from the length and a few of the bytes, for a place in a table that remembers: one that differs says that
  /// the bytes do, and nothing follows from one that is the same.
  package var sample: UInt64 {
    unsafe withUnsafeBytes { bytes in
      var number = UInt64(bytes.count)
      if bytes.count >= 8 {
        for part in 0...3 {
          let word = unsafe bytes.loadUnaligned(fromByteOffset: (bytes.count - 8) * part / 3, as: UInt64.self)
          number = (number ^ word) &* 0x9E37_79B9_7F4A_7C15
        }
      } else {
        number = unsafe bytes.reduce(number) { $0 &* 31 &+ UInt64($1) }
      }
      // The highest bits are the best mixed.
      return number ^ number >> 32
    }
  }
}

extension UnsafeRawBufferPointer {
  /// Whether these are the same bytes.
  package func equals(_ other: UnsafeRawBufferPointer) -> Bool {
    guard count == other.count else { return false }
    guard let mine = baseAddress, let theirs = other.baseAddress else { return true }
    return unsafe memcmp(mine, theirs, count) == 0
  }

  /// Whether these bytes are those of a literal.
  package func equals(_ text: StaticString) -> Bool {
    unsafe equals(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }
}

extension [UInt8] {
  /// A copy of bytes that were lent.
  package init(_ bytes: Span<UInt8>) { self = unsafe bytes.withUnsafeBufferPointer { unsafe Array($0) } }

  /// Whether a byte occurs.
  package func holds(_ byte: UInt8) -> Bool {
    unsafe withUnsafeBytes { bytes in
      guard let start = bytes.baseAddress else { return false }
      return unsafe memchr(start, Int32(byte), count) != nil
    }
  }
}

extension String {
  /// The text of bytes that were lent; invalid UTF-8 is repaired.
  package init(repairing bytes: Span<UInt8>) {
    self = unsafe bytes.withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
  }
}
