/// The n-grams of a text: one or two tokens; three tokens with an ideograph or a placeholder; and five successive letters,
/// independent of the characters between them. Placeholders count only together with another token.
enum AdFeatures {
  /// The number of letters in an n-gram of letters.
  static let letterCount = 5

  /// Calls `body` with the hash of each n-gram, its first unit, and the unit after its last.
  @inline(__always)
  static func forEach(_ reader: borrowing AdReader, _ body: (UInt32, Int32, Int32) -> Void) {
    let tokens = unsafe reader.tokens
    let count = reader.tokenCount
    // The keys of the two tokens before, 0 if there is none.
    var previous: UInt64 = 0
    var earlier: UInt64 = 0
    var previousStart: Int32 = 0
    var earlierStart: Int32 = 0
    var previousKind = AdToken.Kind.boundary
    var earlierKind = AdToken.Kind.boundary
    for index in 0..<count {
      let token = unsafe tokens[index]
      if token.kind == .boundary {
        previous = 0
        earlier = 0
        previousKind = .boundary
        earlierKind = .boundary
        continue
      }
      if token.kind != .placeholder { body(hash(token.key, 0x1F83_D9AB), token.start, token.end) }
      if previous != 0, token.kind != .placeholder || previousKind != .placeholder {
        let pair = mix(previous, token.key)
        body(UInt32(truncatingIfNeeded: pair >> 32), previousStart, token.end)
        let hasMeaning =
          token.kind == .ideograph || previousKind == .ideograph || earlierKind == .ideograph
          || token.kind == .placeholder || previousKind == .placeholder || earlierKind == .placeholder
        if earlier != 0, hasMeaning {
          body(hash(mix(earlier, previous), token.key), earlierStart, token.end)
        }
      }
      earlier = previous
      earlierStart = previousStart
      earlierKind = previousKind
      previous = token.key
      previousStart = token.start
      previousKind = token.kind
    }
    let letters = unsafe reader.letters
    let units = unsafe reader.letterUnits
    var window: UInt64 = 0
    var filled = 0
    for index in 0..<reader.letterCount {
      let letter = unsafe letters[index]
      if letter == 0 {
        filled = 0
        continue
      }
      window = (window << 12 | UInt64(letter & 0xFFF)) & (1 << 60 - 1)
      filled &+= 1
      if filled >= letterCount {
        let hash = mix(window, 0x5BE0_CD19)
        unsafe body(UInt32(truncatingIfNeeded: hash >> 32), units[index - 4], units[index] &+ 1)
      }
    }
  }

  @inline(__always)
  private static func mix(_ first: UInt64, _ second: UInt64) -> UInt64 {
    var mixed = (first &* 0xFF51_AFD7_ED55_8CCD) ^ second
    mixed ^= mixed >> 32
    return mixed &* 0xC4CE_B9FE_1A85_EC53
  }

  @inline(__always)
  private static func hash(_ first: UInt64, _ second: UInt64) -> UInt32 {
    UInt32(truncatingIfNeeded: mix(first, second) >> 32)
  }
}
