/// Numbers, identifiers, and digits that stand for letters.
extension AdReader {
  /// Reads digits that stand for letters inside or at the end of a word; nil if they are a number.
  func readDigits(_ index: Int, _ hash: inout UInt64, _ count: inout Int) -> Int? {
    var end = index
    while kind(end) == .digit { end += 1 }
    guard end - index <= 2 else { return nil }
    if let next = readOneAsL(index, hash) {
      add(0x6C, index, &hash)
      count += 1
      return next
    }
    var whole = hash
    for digit in index..<end {
      let letter = Self.leet[Int(code(digit) - 0x30)]
      if letter == 0 { return nil }
      whole = AdKey.step(whole, UInt32(letter))
    }
    guard kind(end) == .letter || vocabulary.contains(whole) else { return nil }
    for digit in index..<end {
      add(UInt32(Self.leet[Int(code(digit) - 0x30)]), digit, &hash)
      count += 1
    }
    return end
  }

  /// Returns true for a full-width comma before the last three digits of thousands.
  private func isWideComma(_ index: Int) -> Bool {
    code(index) == 0xFF0C && kind(index + 1) == .digit && kind(index + 2) == .digit && kind(index + 3) == .digit
      && kind(index + 4) != .digit
  }

  /// Returns the index after a digit 1 that stands for l, as in "sa1e", if ads use the word with it.
  func readOneAsL(_ index: Int, _ hash: UInt64) -> Int? {
    guard code(index) == 0x31, kind(index + 1) != .digit else { return nil }
    let end = units.lettersEnd(index + 1)
    let key = units.hash(AdKey.step(hash, 0x6C), index + 1, end)
    return vocabulary.contains(key) ? index + 1 : nil
  }

  /// Reads a number, an amount, a percentage or a time, or a word whose first letter is written as a digit.
  func readNumber(_ first: Int) -> Int {
    var index = first
    var digits = 0
    var isZero = true
    var isTime = false
    while true {
      while kind(index) == .digit {
        if code(index) != 0x30 { isZero = false }
        digits += 1
        index += 1
      }
      let sign = code(index)
      let isInner = sign == 0x2E || sign == 0x2C || sign == 0x3A || sign == 0x2D || sign == 0x2F
      guard isInner || isWideComma(index) || kind(index) == .space && digits == 1, kind(index + 1) == .digit else {
        break
      }
      if sign == 0x3A { isTime = true }
      index += 1
    }
    if digits <= 2, index == first + digits, kind(index) == .letter, let end = readLeetWord(first, index) { return end }
    var key = isTime ? AdKey.time : digits >= 7 ? AdKey.long : isZero ? AdKey.zero : AdKey.number
    let after = kind(index) == .space ? index + 1 : index
    if kind(after) == .percent {
      key = AdKey.percent
      index = after + 1
    } else if first > 0 && kind(first - 1) == .currency
      || first > 1 && kind(first - 1) == .space && kind(first - 2) == .currency
    {
      key = isZero ? AdKey.zero : AdKey.money
    } else if kind(after) == .currency {
      key = isZero ? AdKey.zero : AdKey.money
      index = after + 1
    }
    // A number in several pieces is one token.
    if tokenCount > 0, unsafe tokens[tokenCount - 1].key == key, key == AdKey.number {
      unsafe tokens[tokenCount - 1].end = Int32(index)
    } else {
      emit(key, first, index, .placeholder)
    }
    return index
  }

  /// Reads a UUID (RFC 9562 §4), because its digits do not stand for letters; nil if there is none.
  func readUUID(_ first: Int) -> Int? {
    guard let end = units.uuidEnd(first) else { return nil }
    emit(AdKey.long, first, end, .placeholder)
    return end
  }

  /// Reads a word of the vocabulary with digits for its first letters, such as "0ff"; nil if it is not such a word.
  func readLeetWord(_ first: Int, _ firstLetter: Int) -> Int? {
    var hash = AdKey.seed
    for digit in first..<firstLetter {
      let letter = Self.leet[Int(code(digit) - 0x30)]
      if letter == 0 { return nil }
      hash = AdKey.step(hash, UInt32(letter))
    }
    let start = hash
    var index = firstLetter
    while true {
      if kind(index) == .letter {
        hash = AdKey.step(hash, code(index))
      } else if kind(index) == .digit, Self.leet[Int(code(index) - 0x30)] != 0 {
        hash = AdKey.step(hash, UInt32(Self.leet[Int(code(index) - 0x30)]))
      } else {
        break
      }
      index += 1
    }
    guard vocabulary.contains(hash) else { return nil }
    hash = start
    for unit in first..<index {
      let letter = kind(unit) == .letter ? code(unit) : UInt32(Self.leet[Int(code(unit) - 0x30)])
      unsafe letters[letterCount] = UInt16(truncatingIfNeeded: letter)
      unsafe letterUnits[letterCount] = Int32(unit)
      letterCount += 1
      if unit >= firstLetter { hash = AdKey.step(hash, letter) }
    }
    emit(hash, first, index, .word)
    return index
  }
}
