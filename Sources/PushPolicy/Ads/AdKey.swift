/// The keys of tokens (``AdToken/key``).
enum AdKey {
  static let seed: UInt64 = 0xCBF2_9CE4_8422_2325
  static let boundary: UInt64 = 1
  static let address: UInt64 = 2
  static let number: UInt64 = 3
  static let long: UInt64 = 4
  static let time: UInt64 = 5
  static let money: UInt64 = 6
  static let percent: UInt64 = 7
  static let zero: UInt64 = 8

  /// Returns the key of a word with one more letter (FNV-1a over scalars).
  @inline(__always)
  static func step(_ hash: UInt64, _ letter: UInt32) -> UInt64 { (hash ^ UInt64(letter)) &* 0x100_0000_01B3 }

  static func word(_ word: String) -> UInt64 { word.unicodeScalars.reduce(seed) { step($0, $1.value) } }

  /// Returns the 16 bits that stand for an ideograph with this key in n-grams of characters.
  @inline(__always)
  static func character(ofIdeograph key: UInt64) -> UInt64 { key >> 48 }

  static func ideograph(_ code: UInt32) -> UInt64 { UInt64(code) &* 0x9E37_79B9_7F4A_7C15 }
}
