/// The conversion of a device's UUID between its text and its bytes.
///
/// Foundation's conversion took a third of a start, and a sixth of a list.
enum DeviceUUID {
  /// Returns a UUID in capital letters.
  static func text(of words: (UInt64, UInt64)) -> String {
    unsafe String(unsafeUninitializedCapacity: 36) { text in
      var index = 0
      for word in [words.0.bigEndian, words.1.bigEndian] {
        for shift in stride(from: 60, through: 0, by: -4) {
          if index == 8 || index == 13 || index == 18 || index == 23 {
            unsafe text[index] = UInt8(ascii: "-")
            index += 1
          }
          let digit = UInt8(truncatingIfNeeded: word >> UInt64(shift) & 15)
          unsafe text[index] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "A") + digit - 10
          index += 1
        }
      }
      return index
    }
  }

  /// Returns the bytes of a UUID in capital letters, which is every device's form; nil for any other text.
  static func words(of text: String) -> (UInt64, UInt64)? {
    var words: (UInt64, UInt64) = (0, 0)
    var (index, digits) = (0, 0)
    for byte in text.utf8 {
      defer { index += 1 }
      if index == 8 || index == 13 || index == 18 || index == 23 {
        guard byte == UInt8(ascii: "-") else { return nil }
        continue
      }
      let value: UInt8
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): value = byte - UInt8(ascii: "0")
      case UInt8(ascii: "A")...UInt8(ascii: "F"): value = byte - UInt8(ascii: "A") + 10
      default: return nil
      }
      guard digits < 32 else { return nil }
      if digits < 16 { words.0 = words.0 << 4 | UInt64(value) } else { words.1 = words.1 << 4 | UInt64(value) }
      digits += 1
    }
    guard index == 36, digits == 32 else { return nil }
    return (words.0.bigEndian, words.1.bigEndian)
  }
}
