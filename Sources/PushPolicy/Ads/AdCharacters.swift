/// The n-grams of one to four characters in the tokens of a text (``AdReader``). The characters are letters and ideographs,
/// a sign for each number, amount and address, a space between words, and a sign for the end of a clause.
enum AdCharacters {
  /// The maximum number of characters in an n-gram.
  static let size = 4

  /// The signs for a space and for the end of a clause. A placeholder's key is less than 16.
  private static let space: UInt64 = 0x20
  private static let end: UInt64 = 0x10

  /// Calls `body` with the index of each n-gram in ``AdModel/characters``, its first unit, and the unit after its last.
  @inline(__always)
  static func forEach(_ reader: borrowing AdReader, _ body: (UInt32, Int32, Int32) -> Void) {
    let tokens = unsafe reader.tokens
    let letters = unsafe reader.letters
    let units = unsafe reader.letterUnits
    let letterCount = reader.letterCount
    var window = Window()
    var letter = 0
    var previous = AdToken.Kind.boundary
    for index in 0..<reader.tokenCount {
      let token = unsafe tokens[index]
      switch token.kind {
      case .word:
        if previous != .boundary { window.add(space, token.start, token.start, body) }
        while letter < letterCount, unsafe units[letter] < token.start || letters[letter] == 0 { letter &+= 1 }
        while letter < letterCount, unsafe units[letter] < token.end, unsafe letters[letter] != 0 {
          let unit = unsafe units[letter]
          unsafe window.add(UInt64(letters[letter]), unit, unit &+ 1, body)
          letter &+= 1
        }
      case .ideograph: window.add(AdKey.character(ofIdeograph: token.key), token.start, token.end, body)
      case .placeholder:
        if previous == .word { window.add(space, token.start, token.start, body) }
        window.add(token.key, token.start, token.end, body)
      case .boundary:
        if previous != .boundary { window.add(end, token.start, token.start, body) }
      }
      previous = token.kind
    }
  }

  /// The last characters, the newest in the low 16 bits, and the first unit of each.
  private struct Window {
    var characters: UInt64 = 0
    var count = 0
    var first: Int32 = 0
    var second: Int32 = 0
    var third: Int32 = 0

    @inline(__always)
    mutating func add(_ character: UInt64, _ start: Int32, _ end: Int32, _ body: (UInt32, Int32, Int32) -> Void) {
      characters = characters << 16 | character & 0xFFFF
      body(hash(characters & 0xFFFF, 0x1F83_D9AB), start, end)
      if count >= 1 { body(hash(characters & 0xFFFF_FFFF, 0x5BE0_CD19), third, end) }
      if count >= 2 { body(hash(characters & 0xFFFF_FFFF_FFFF, 0x9B05_688C), second, end) }
      if count >= 3 { body(hash(characters, 0x510E_527F), first, end) }
      first = second
      second = third
      third = start
      count &+= 1
    }

    @inline(__always)
    private func hash(_ characters: UInt64, _ size: UInt64) -> UInt32 {
      UInt32(truncatingIfNeeded: ((characters ^ size << 13) &* 0xFF51_AFD7_ED55_8CCD) >> 46)
    }
  }
}
