/// Reads the words of texts, even if they are disguised, as "0ff" for "off".
///
/// Bytes become units, and units become tokens. A unit is a folded visible scalar with its position in the bytes, so
/// that each match can be quoted in its original spelling. The buffers are reused: only one thread may use a reader at
/// a time.
@safe
package final class AdReader {
  /// The letter for which each digit stands in a word, by digit; 0 for none.
  static let leet: [UInt8] = Array("oi\0eas\0tbg".utf8)

  /// The ``AdToken/key`` of each word of ads that is also recognized if it is written in pieces.
  let vocabulary: KeySet
  private let splits: [UInt64: UInt32]

  let units: AdUnits
  /// The memory of ``units``: reading it through the object would take a load more for each unit.
  private let memory: UnsafeMutablePointer<UInt32>
  private var addresses: AdAddresses

  let tokens: UnsafeMutablePointer<AdToken>
  var tokenCount = 0

  /// The letters of all words in reading order without the characters between them, and the unit of each. 0 ends a
  /// text.
  let letters: UnsafeMutablePointer<UInt16>
  let letterUnits: UnsafeMutablePointer<Int32>
  var letterCount = 0

  /// The number of ideographs of all texts, and the number of kana among them.
  private var ideographCount = 0
  private var kanaCount = 0

  #if DEBUG
    /// See ``AdUnits/steps``.
    var steps: Int { units.steps }
  #endif

  /// - Parameter vocabulary: the keys of words that are also recognized in pieces and with digits for letters.
  init(vocabulary: [UInt64]) {
    units = AdUnits()
    unsafe memory = units.units
    addresses = AdAddresses(units)
    self.vocabulary = KeySet(vocabulary)
    splits = Dictionary(
      LetterFolding.splits.map { (UInt64($0.0.0.value) << 32 | UInt64($0.0.1.value), $0.1.value) }
    ) { first, _ in first }
    // Each token adds at most one boundary.
    unsafe letters = .allocate(capacity: AdUnits.capacity)
    unsafe letterUnits = .allocate(capacity: AdUnits.capacity)
    unsafe tokens = .allocate(capacity: AdUnits.capacity * 2)
  }

  deinit {
    unsafe letters.deallocate()
    unsafe letterUnits.deallocate()
    unsafe tokens.deallocate()
  }

  /// Removes the texts of the last notification.
  func reset() {
    units.reset()
    tokenCount = 0
    letterCount = 0
    ideographCount = 0
    kanaCount = 0
  }

  /// True if the texts are Japanese: a Chinese phrase would have another meaning in them. Single kana between ideographs
  /// are a disguise.
  var isJapanese: Bool { kanaCount >= 2 && kanaCount * 8 >= ideographCount }

  /// The number of units of all texts.
  var unitCount: Int { units.count }

  /// Returns the first byte of a unit in all texts together.
  func offset(ofUnit unit: Int32) -> Int { units.offset(of: unit) }

  /// Adds a text, as ``append(_:)``.
  func append(_ text: String) { units.append(text) }

  /// Adds a text. Each byte that is not valid UTF-8 counts as U+FFFD, which is a letter.
  func append(_ text: UnsafeBufferPointer<UInt8>) { unsafe units.append(text) }

  /// Counts examined units, in debug builds.
  @inline(__always)
  func countSteps(_ count: Int = 1) { units.countSteps(count) }

  @inline(__always)
  func kind(_ index: Int) -> LetterFolding.Class {
    countSteps()
    return AdUnits.kind(of: unsafe memory[index])
  }

  @inline(__always)
  func code(_ index: Int) -> UInt32 { AdUnits.code(of: unsafe memory[index]) }

  func emit(_ key: UInt64, _ start: Int, _ end: Int, _ kind: AdToken.Kind) {
    unsafe tokens[tokenCount] = AdToken(
      key: key, start: Int32(truncatingIfNeeded: start), end: Int32(truncatingIfNeeded: end), kind: kind)
    tokenCount &+= 1
  }

  /// The signs between the last token and the next.
  private struct Gap {
    var count = 0
    var hasStop = false
    /// True if there is a stop other than the ones put between ideographs as a disguise.
    var hasHeavyStop = false
  }

  /// Converts the units to tokens.
  func tokenize() {
    units.pad()
    addresses.reset()
    var gap = Gap()
    var index = 0
    // The number of adjacent ideographs before the gap.
    var run = 0
    while index < unitCount {
      switch kind(index) {
      case .letter:
        if gap.hasStop { emit(AdKey.boundary, index, index, .boundary) }
        index = readUUID(index) ?? readWord(index, from: index)
        gap = Gap()
        run = 0
      case .ideograph:
        let isAlone = kind(index + 1) != .ideograph
        if gap.hasStop, run == 0 || (gap.hasHeavyStop || gap.count > 1) && !(run == 1 && isAlone) {
          emit(AdKey.boundary, index, index, .boundary)
        }
        run = gap.count > 0 ? 1 : run + 1
        readIdeograph(index)
        index += 1
        gap = Gap()
      case .digit:
        if gap.hasStop { emit(AdKey.boundary, index, index, .boundary) }
        index = readUUID(index) ?? readNumber(index)
        gap = Gap()
        run = 0
      case .end:
        emit(AdKey.boundary, index, index, .boundary)
        unsafe letters[letterCount] = 0
        unsafe letterUnits[letterCount] = Int32(index)
        letterCount += 1
        index += 1
        gap = Gap()
        run = 0
      case .stop:
        gap.hasStop = true
        let sign = code(index)
        if sign != 0x2E && sign != 0x2C { gap.hasHeavyStop = true }
        gap.count += 1
        index += 1
      case .currency, .symbol:
        // "$ale", "@ll": a sign in place of the first letter of a word that ads use.
        if kind(index + 1) == .letter, let letter = Self.letter(forSign: code(index)) {
          let end = units.lettersEnd(index + 1)
          if vocabulary.contains(units.hash(AdKey.step(AdKey.seed, letter), index + 1, end)) {
            if gap.hasStop { emit(AdKey.boundary, index, index, .boundary) }
            index = readWord(index, from: index)
            gap = Gap()
            run = 0
            continue
          }
        }
        gap.count += 1
        index += 1
      default:
        gap.count += 1
        index += 1
      }
    }
  }

  /// Reads an ideograph, or the second part of one that was split.
  private func readIdeograph(_ index: Int) {
    let code = code(index) & 0x1FFFFF
    ideographCount &+= 1
    // Without the dot and the long vowel, which other languages borrow.
    if 0x3041...0x30FA ~= code { kanaCount &+= 1 }
    if tokenCount > 0, unsafe tokens[tokenCount - 1].kind == .ideograph {
      let start = Int(unsafe tokens[tokenCount - 1].start)
      if units.isSplit(start), let whole = splits[UInt64(self.code(start)) << 32 | UInt64(code)] {
        unsafe tokens[tokenCount - 1].key = AdKey.ideograph(whole)
        unsafe tokens[tokenCount - 1].end = Int32(index + 1)
        return
      }
    }
    emit(AdKey.ideograph(code), index, index + 1, .ideograph)
  }

  /// A word while it is read.
  private struct Word {
    var hash = AdKey.seed
    /// The number of its letters, and the index of the first one in ``letters``.
    var count = 0
    let firstLetter: Int
    /// True if a letter was skipped, because it repeated the two before it.
    var hasRun = false
    /// The number of adjacent letters before the current unit, and true after single letters were joined.
    var chunk = 0
    var isSpelled = false
  }

  /// The meaning of the unit after adjacent letters of a word.
  private enum Continuation {
    /// The word continues at the index.
    case word(Int)
    /// The letters belong to an address that ends at the index.
    case address(Int)
    /// The word has ended.
    case end
  }

  /// Reads a word that begins at `index`, and returns its end; separators between its letters are skipped.
  private func readWord(_ first: Int, from index: Int) -> Int {
    if let end = addresses.addressEnd(first) {
      emit(AdKey.address, first, end, .placeholder)
      return end
    }
    var word = Word(firstLetter: letterCount)
    var index = index
    if kind(index) != .letter {
      let letter = Self.letter(forSign: code(index)) ?? code(index)
      add(letter, index, &word.hash)
      word.count = 1
      word.chunk = 1
      index += 1
    }
    while true {
      index = readLetters(index, &word)
      switch continuation(index, first, &word) {
      case .word(let next): index = next
      case .address(let end):
        letterCount = word.firstLetter
        emit(AdKey.address, first, end, .placeholder)
        return end
      case .end:
        if word.hasRun, !vocabulary.contains(word.hash) { word.hash = shortened(word.hash, word.firstLetter) }
        emit(word.hash, first, index, .word)
        return index
      }
    }
  }

  /// Adds adjacent letters to a word, and returns their end.
  @inline(__always)
  private func readLetters(_ first: Int, _ word: inout Word) -> Int {
    var index = first
    while kind(index) == .letter {
      let letter = code(index)
      // A third repetition of a letter is emphasis and is skipped.
      let isRepeated =
        unsafe word.count >= 2 && letters[letterCount - 1] == UInt16(truncatingIfNeeded: letter)
        && letters[letterCount - 2] == UInt16(truncatingIfNeeded: letter)
      if isRepeated {
        word.hasRun = true
      } else {
        add(letter, index, &word.hash)
        word.count += 1
      }
      word.chunk += 1
      index += 1
    }
    return index
  }

  /// Reads the unit at `index` after adjacent letters of a word that begins at `first`.
  @inline(__always)
  private func continuation(_ index: Int, _ first: Int, _ word: inout Word) -> Continuation {
    switch kind(index) {
    case .space: return join(index, &word, isSpace: true)
    case .hyphen, .stop:
      if code(index) == 0x2E, let end = addresses.domainEnd(first) { return .address(end) }
      return join(index, &word, isSpace: false)
    case .apostrophe: return kind(index + 1) == .letter ? .word(index + 1) : .end
    case .digit:
      guard let next = readDigits(index, &word.hash, &word.count) else { return .end }
      return .word(next)
    case .symbol, .currency, .percent: return readSign(index, &word)
    default: return .end
    }
  }

  /// Joins the letters after the one sign at `index` to a word, if they belong to it.
  @inline(__always)
  private func join(_ index: Int, _ word: inout Word, isSpace: Bool) -> Continuation {
    guard let next = joint(index, word.hash, word.chunk, word.isSpelled, isSpace: isSpace) else { return .end }
    word.isSpelled = word.isSpelled || word.chunk == 1
    word.chunk = 0
    return .word(next)
  }

  /// Reads the sign at `index` inside or at the end of a word: the sign of a mail address, a sign in place of a letter, or
  /// up to two signs between letters.
  @inline(__always)
  private func readSign(_ index: Int, _ word: inout Word) -> Continuation {
    let sign = code(index)
    if sign == 0x40, kind(index + 1) == .letter, let end = addresses.domainEnd(index + 1) { return .address(end) }
    if let letter = Self.letter(forSign: sign) {
      if kind(index + 1) == .letter || vocabulary.contains(AdKey.step(word.hash, letter)) {
        add(letter, index, &word.hash)
        word.count += 1
        word.chunk += 1
        return .word(index + 1)
      }
    }
    let next = kind(index + 1) == .symbol ? index + 2 : index + 1
    guard kind(index) == .symbol, kind(next) == .letter else { return .end }
    let end = units.lettersEnd(next)
    guard word.chunk <= 2 || end - next <= 2 || vocabulary.contains(units.hash(word.hash, next, end)) else {
      return .end
    }
    word.chunk = 0
    return .word(next)
  }

  /// Returns the key of the last word with one letter in place of two, as "sale" for "saaale"; `hash`, if ads do not use
  /// that word. The letters begin at `first`.
  private func shortened(_ hash: UInt64, _ first: Int) -> UInt64 {
    var short = AdKey.seed
    countSteps(letterCount - first)
    for index in first..<letterCount where unsafe index == first || letters[index] != letters[index - 1] {
      short = unsafe AdKey.step(short, UInt32(letters[index]))
    }
    guard vocabulary.contains(short) else { return hash }
    var end = first
    for index in first..<letterCount where unsafe index == first || letters[index] != letters[end - 1] {
      unsafe letters[end] = letters[index]
      unsafe letterUnits[end] = letterUnits[index]
      end += 1
    }
    letterCount = end
    return short
  }

  /// Returns the index at which the word continues after the one sign at `index`; nil if the next letters belong to
  /// another word.
  private func joint(_ index: Int, _ hash: UInt64, _ chunk: Int, _ isSpelled: Bool, isSpace: Bool) -> Int? {
    let next = index + 1
    guard kind(next) == .letter else { return nil }
    let end = units.lettersEnd(next)
    if chunk == 1 && end - next == 1 {
      // At least three single letters are required, as in "f r e e".
      if isSpelled || !isSpace { return next }
      if kind(end) == kind(index), kind(end + 1) == .letter, kind(end + 2) != .letter { return next }
    }
    if isSpace && min(chunk, end - next) > 3 || isSpelled { return nil }
    return vocabulary.contains(units.hash(hash, next, end)) ? next : nil
  }

  func add(_ letter: UInt32, _ index: Int, _ hash: inout UInt64) {
    hash = AdKey.step(hash, letter)
    unsafe letters[letterCount] = UInt16(truncatingIfNeeded: letter)
    unsafe letterUnits[letterCount] = Int32(truncatingIfNeeded: index)
    letterCount &+= 1
  }

  private static func letter(forSign sign: UInt32) -> UInt32? {
    switch sign {
    case 0x24: 0x73  // $ is s
    case 0x40: 0x61  // @ is a
    case 0x20AC: 0x65  // € is e
    case 0xA3: 0x6C  // £ is l
    default: nil
    }
  }
}
