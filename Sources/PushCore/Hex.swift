/// Returns the value of a hex digit of either case; nil for any other byte.
package func hexValue(_ byte: UInt8) -> UInt8? {
  switch byte {
  case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
  case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
  case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
  default: nil
  }
}

/// Returns the lower-case hex digit of a value below 16.
package func hexDigit(_ value: UInt8) -> UInt8 {
  value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
}

/// Returns the value of eight hex digits of either case; nil if one of the bytes is not a hex digit.
///
/// The first digit is the lowest byte of `digits`. All eight are converted at once: the low half of a letter differs
/// from the letter's value by 9, and bit 64 (0x40) distinguishes letters from digits.
package func hexValue(ofEight digits: UInt64) -> UInt32? {
  let ones: UInt64 = 0x0101_0101_0101_0101
  guard digits & (ones * 0x80) == 0 else { return nil }
  let letters = (digits >> 6) & ones
  let values = (digits & (ones * 0x0F)) + letters * 9
  guard values & (ones * 0xF0) == 0 else { return nil }
  // Checks the input: the values, written as digits in lower case, must equal the input in lower case.
  let areLetters = ((values + ones * 6) >> 4) & ones
  let written = values + ones * 0x30 + areLetters * 0x27
  guard written == digits | (letters * 0x20) else { return nil }
  // Packs two half bytes into a byte, two bytes into a word, and two words into the value, the first one highest.
  let bytes = (values << 4 | values >> 8) & 0x00FF_00FF_00FF_00FF
  let words = (bytes << 8 | bytes >> 16) & 0x0000_FFFF_0000_FFFF
  return UInt32(truncatingIfNeeded: words << 16 | words >> 32)
}

/// Returns the eight hex digits of a value, the first in the lowest byte.
///
/// - Parameter upperCase: one bit for each digit, the highest for the first digit; 1 if a letter is in upper case.
package func hexDigits(_ value: UInt32, upperCase: UInt8) -> UInt64 {
  let ones: UInt64 = 0x0101_0101_0101_0101
  var values = UInt64(value)
  values = (values << 16 | values) & 0x0000_FFFF_0000_FFFF
  values = (values << 8 | values) & 0x00FF_00FF_00FF_00FF
  values = (values << 4 | values) & (ones * 0x0F)
  // One byte of value 1 for each letter, and for each letter in upper case.
  let letters = ((values + ones * 6) >> 4) & ones
  let bits = (UInt64(upperCase) * ones) & 0x8040_2010_0804_0201
  let uppers = ((bits + ones * 0x7F | bits) >> 7) & ones & letters
  return (values + ones * 0x30 + letters * 0x27 - uppers * 0x20).byteSwapped
}
