import Glibc

// Operations that the standard library does byte by byte; here the C library does them on many bytes at a time.

extension Span<UInt8> {
  /// Returns true if both have the same bytes.
  package func isSame(as other: [UInt8]) -> Bool {
    unsafe withUnsafeBytes { mine in unsafe other.withUnsafeBytes { theirs in unsafe mine.equals(theirs) } }
  }

  /// Returns true if the bytes are the same as those of a literal.
  package func equals(_ text: StaticString) -> Bool { unsafe withUnsafeBytes { unsafe $0.equals(text) } }

  /// Returns true if the bytes begin with those of a literal.
  package func starts(with text: StaticString) -> Bool {
    count >= text.utf8CodeUnitCount && extracting(first: text.utf8CodeUnitCount).equals(text)
  }
}

extension Span<UInt8> {
  /// A hash of the length and a few of the bytes, for an index in a cache. Different samples prove different bytes;
  /// equal samples prove nothing.
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
  /// Returns true if both have the same bytes.
  package func equals(_ other: UnsafeRawBufferPointer) -> Bool {
    guard count == other.count else { return false }
    guard let mine = baseAddress, let theirs = other.baseAddress else { return true }
    return unsafe memcmp(mine, theirs, count) == 0
  }

  /// Returns true if the bytes are the same as those of a literal.
  package func equals(_ text: StaticString) -> Bool {
    unsafe equals(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }
}

extension [UInt8] {
  /// Copies borrowed bytes.
  package init(_ bytes: Span<UInt8>) { self = unsafe bytes.withUnsafeBufferPointer { unsafe Array($0) } }

  /// Returns true if `byte` occurs in the array.
  package func holds(_ byte: UInt8) -> Bool {
    unsafe withUnsafeBytes { bytes in
      guard let start = bytes.baseAddress else { return false }
      return unsafe memchr(start, Int32(byte), count) != nil
    }
  }
}

extension String {
  /// Decodes borrowed bytes as UTF-8; invalid UTF-8 is repaired.
  package init(repairing bytes: Span<UInt8>) {
    self = unsafe bytes.withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
  }
}
