package enum Topic {
  /// Returns true for 1 to 255 bytes of ASCII letters, digits, hyphens, underscores and dots.
  package static func isWellFormed(_ bytes: some Collection<UInt8>) -> Bool {
    (1...255).contains(bytes.count)
      && bytes.allSatisfy { byte in
        byte.isUpperOrDigit || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
          || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
      }
  }
}

extension UInt8 {
  /// True for an ASCII capital letter or digit.
  package var isUpperOrDigit: Bool {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self)
  }
}
