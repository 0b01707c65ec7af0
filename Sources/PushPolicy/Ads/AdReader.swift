/// Reads the words of texts, even if they are disguised, as "0ff" for "off".
///
/// Bytes become units, and units become tokens. A unit is a folded visible scalar with its position in the bytes, so
/// that each match can be quoted in its original spelling. The buffers are reused: only one thread may use a reader at
/// a time.
@safe
package final class AdReader {
  /// The maximum size of all texts of a notification together, in bytes; the rest is ignored.
  package static let maximumSize = 8192
  /// The letter for which each digit stands in a word, by digit; 0 for none.
  private static let leet: [UInt8] = Array("oi\0eas\0tbg".utf8)

  let folding: LetterFolding
  /// The ``AdToken/key`` of each word of ads that is also recognized if it is written in pieces.
  private let vocabulary: KeySet
  private let splits: [UInt64: UInt32]
  private let expansions: [UInt32: [UInt32]]
  private let topLevelDomains: KeySet

  private let units: UnsafeMutablePointer<UInt32>
  private let offsets: UnsafeMutablePointer<Int32>
  private(set) var unitCount = 0
  private var size: Int32 = 0

  let tokens: UnsafeMutablePointer<AdToken>
  private(set) var tokenCount = 0

  /// The letters of all words in reading order without the characters between them, and the unit of each. 0 ends a
  /// text.
  let letters: UnsafeMutablePointer<UInt16>
  let letterUnits: UnsafeMutablePointer<Int32>
  private(set) var letterCount = 0

  /// The run of labels of the last call of ``domainEnd(_:)``.
  private var labels = LabelRun()

  #if DEBUG
    /// The number of units examined so far, for tests: it must grow linearly with the size of the text.
    private(set) var steps = 0
  #endif

  /// - Parameter vocabulary: the keys of words that are also recognized in pieces and with digits for letters.
  init(vocabulary: [UInt64]) {
    folding = LetterFolding.shared
    self.vocabulary = KeySet(vocabulary)
    splits = Dictionary(
      LetterFolding.splits.map { (UInt64($0.0.0.value) << 32 | UInt64($0.0.1.value), $0.1.value) }
    ) { first, _ in first }
    expansions = Dictionary(
      LetterFolding.expansions.map { ($0.0.value, $0.1.unicodeScalars.map(\.value)) }
    ) { first, _ in first }
    topLevelDomains = KeySet(Self.domains.map(Self.key))
    // An expansion has up to 5 scalars of at least 2 bytes; each text adds its end, each token at most one boundary.
    let capacity = Self.maximumSize * 3 + 256
    unsafe units = .allocate(capacity: capacity)
    unsafe offsets = .allocate(capacity: capacity)
    unsafe letters = .allocate(capacity: capacity)
    unsafe letterUnits = .allocate(capacity: capacity)
    unsafe tokens = .allocate(capacity: capacity * 2)
  }

  deinit {
    unsafe units.deallocate()
    unsafe offsets.deallocate()
    unsafe letters.deallocate()
    unsafe letterUnits.deallocate()
    unsafe tokens.deallocate()
  }

  /// Removes the texts of the last notification.
  func reset() {
    unitCount = 0
    size = 0
    tokenCount = 0
    letterCount = 0
  }

  /// Returns the first byte of a unit in all texts together.
  func offset(ofUnit unit: Int32) -> Int { Int(unsafe offsets[Int(unit)]) }

  // Units

  /// Adds a text, as ``append(_:)``.
  func append(_ text: String) {
    var text = text
    text.withUTF8 { unsafe append($0) }
  }

  /// Adds a text; bytes that are not valid UTF-8 are ignored.
  func append(_ text: UnsafeBufferPointer<UInt8>) {
    // 256 units are reserved for the ends of texts.
    let room = unitCount < Self.maximumSize * 3 ? Self.maximumSize - Int(size) : 0
    let count = min(text.count, max(0, room))
    guard let base = text.baseAddress, count > 0 else { return end(Int32(text.count)) }
    var position = 0
    var unit = unitCount
    let start = size
    while position < count {
      let byte = unsafe base[position]
      if byte < 0x80 {
        unsafe units[unit] = folding[UInt32(byte)]
        unsafe offsets[unit] = start &+ Int32(truncatingIfNeeded: position)
        unit &+= 1
        position &+= 1
        continue
      }
      let (scalar, width) = unsafe Self.decode(base + position, count - position)
      let entry = folding[scalar]
      let offset = start &+ Int32(truncatingIfNeeded: position)
      position &+= width
      switch entry >> 24 {
      case UInt32(LetterFolding.Class.dropped.rawValue): break
      case UInt32(LetterFolding.Class.expanded.rawValue):
        for part in expansions[scalar] ?? [] {
          unsafe units[unit] = folding[part]
          unsafe offsets[unit] = offset
          unit &+= 1
        }
      default:
        unsafe units[unit] = entry
        unsafe offsets[unit] = offset
        unit &+= 1
      }
    }
    unitCount = unit
    end(Int32(text.count))
  }

  /// Ends a text of `count` bytes.
  private func end(_ count: Int32) {
    guard unitCount < Self.maximumSize * 3 + 200 else {
      size += count
      return
    }
    unsafe units[unitCount] = LetterFolding.entry(.end, 0)
    unsafe offsets[unitCount] = size + min(count, Int32(max(0, Self.maximumSize - Int(size))))
    unitCount += 1
    size += count
  }

  /// Returns the scalar at `bytes` and its width; for invalid UTF-8 U+FFFD with a width of one byte.
  private static func decode(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> (UInt32, Int) {
    let first = unsafe UInt32(bytes[0])
    let width = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2
    guard first >= 0xC2, first < 0xF5, width <= count else { return (0xFFFD, 1) }
    var scalar = first & (0x7F >> UInt32(width))
    for index in 1..<width {
      let next = unsafe UInt32(bytes[index])
      guard next & 0xC0 == 0x80 else { return (0xFFFD, 1) }
      scalar = scalar << 6 | next & 0x3F
    }
    return (scalar, width)
  }

  // Tokens

  /// Counts examined units, in debug builds.
  @inline(__always)
  func countSteps(_ count: Int = 1) {
    #if DEBUG
      steps &+= count
    #endif
  }

  @inline(__always)
  private func kind(_ index: Int) -> LetterFolding.Class {
    countSteps()
    // The last unit is an end, and no lookahead passes an end.
    return unsafe LetterFolding.Class(rawValue: UInt8(truncatingIfNeeded: units[index] >> 24)).unsafelyUnwrapped
  }

  @inline(__always)
  private func code(_ index: Int) -> UInt32 { unsafe units[index] & 0x1FFFFF }

  private func emit(_ key: UInt64, _ start: Int, _ end: Int, _ kind: AdToken.Kind) {
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
    // Then a lookahead of a few units needs no bounds check.
    for index in unitCount..<(unitCount + 4) { unsafe units[index] = LetterFolding.entry(.end, 0) }
    labels = LabelRun()
    var gap = Gap()
    var index = 0
    // The number of adjacent ideographs before the gap.
    var run = 0
    while index < unitCount {
      switch kind(index) {
      case .letter:
        if gap.hasStop { emit(Self.boundaryKey, index, index, .boundary) }
        index = readUUID(index) ?? readWord(index, from: index)
        gap = Gap()
        run = 0
      case .ideograph:
        let isAlone = kind(index + 1) != .ideograph
        if gap.hasStop, run == 0 || (gap.hasHeavyStop || gap.count > 1) && !(run == 1 && isAlone) {
          emit(Self.boundaryKey, index, index, .boundary)
        }
        run = gap.count > 0 ? 1 : run + 1
        readIdeograph(index)
        index += 1
        gap = Gap()
      case .digit:
        if gap.hasStop { emit(Self.boundaryKey, index, index, .boundary) }
        index = readUUID(index) ?? readNumber(index)
        gap = Gap()
        run = 0
      case .end:
        emit(Self.boundaryKey, index, index, .boundary)
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
          let end = lettersEnd(index + 1)
          if vocabulary.contains(hash(Self.step(Self.seed, letter), index + 1, end)) {
            if gap.hasStop { emit(Self.boundaryKey, index, index, .boundary) }
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
    if tokenCount > 0, unsafe tokens[tokenCount - 1].kind == .ideograph {
      let start = Int(unsafe tokens[tokenCount - 1].start)
      if unsafe units[start] & LetterFolding.splitFlag != 0,
        let whole = splits[UInt64(self.code(start)) << 32 | UInt64(code)]
      {
        unsafe tokens[tokenCount - 1].key = Self.key(ofIdeograph: whole)
        unsafe tokens[tokenCount - 1].end = Int32(index + 1)
        return
      }
    }
    emit(Self.key(ofIdeograph: code), index, index + 1, .ideograph)
  }

  /// Reads a word that begins at `index`, and returns its end; separators between its letters are skipped.
  private func readWord(_ first: Int, from index: Int) -> Int {
    if let end = addressEnd(first) {
      emit(Self.addressKey, first, end, .placeholder)
      return end
    }
    let firstLetter = letterCount
    var hash = Self.seed
    var count = 0
    var index = index
    // The number of adjacent letters before the current unit, and true after single letters were joined.
    var chunk = 0
    var isSpelled = false
    if kind(index) != .letter {
      let letter = Self.letter(forSign: code(index)) ?? code(index)
      add(letter, index, &hash)
      count = 1
      chunk = 1
      index += 1
    }
    scan: while true {
      while kind(index) == .letter {
        let letter = code(index)
        // A third repetition of a letter is emphasis and is skipped.
        let isRepeated =
          unsafe count >= 2 && letters[letterCount - 1] == UInt16(truncatingIfNeeded: letter)
          && letters[letterCount - 2] == UInt16(truncatingIfNeeded: letter)
        if !isRepeated {
          add(letter, index, &hash)
          count += 1
        }
        chunk += 1
        index += 1
      }
      switch kind(index) {
      case .space:
        guard let next = joint(index, hash, chunk, isSpelled, isSpace: true) else { break scan }
        isSpelled = isSpelled || chunk == 1
        index = next
        chunk = 0
      case .hyphen, .stop:
        if code(index) == 0x2E, let end = domainEnd(first) {
          letterCount = firstLetter
          emit(Self.addressKey, first, end, .placeholder)
          return end
        }
        guard let next = joint(index, hash, chunk, isSpelled, isSpace: false) else { break scan }
        isSpelled = isSpelled || chunk == 1
        index = next
        chunk = 0
      case .apostrophe:
        guard kind(index + 1) == .letter else { break scan }
        index += 1
      case .digit:
        guard let next = readDigits(index, &hash, &count) else { break scan }
        index = next
      case .symbol, .currency, .percent:
        let sign = code(index)
        if sign == 0x40, kind(index + 1) == .letter, let end = domainEnd(index + 1) {
          letterCount = firstLetter
          emit(Self.addressKey, first, end, .placeholder)
          return end
        }
        if let letter = Self.letter(forSign: sign) {
          if kind(index + 1) == .letter || vocabulary.contains(Self.step(hash, letter)) {
            add(letter, index, &hash)
            count += 1
            chunk += 1
            index += 1
            continue scan
          }
        }
        // Up to two signs inside a word.
        let next = kind(index + 1) == .symbol ? index + 2 : index + 1
        guard kind(index) == .symbol, kind(next) == .letter else { break scan }
        let end = lettersEnd(next)
        guard chunk <= 2 || end - next <= 2 || vocabulary.contains(self.hash(hash, next, end)) else { break scan }
        index = next
        chunk = 0
      default: break scan
      }
    }
    emit(hash, first, index, .word)
    return index
  }

  /// Returns the index at which the word continues after the one sign at `index`; nil if the next letters belong to
  /// another word.
  private func joint(_ index: Int, _ hash: UInt64, _ chunk: Int, _ isSpelled: Bool, isSpace: Bool) -> Int? {
    let next = index + 1
    guard kind(next) == .letter else { return nil }
    let end = lettersEnd(next)
    if chunk == 1 && end - next == 1 {
      // At least three single letters are required, as in "f r e e".
      if isSpelled || !isSpace { return next }
      if kind(end) == kind(index), kind(end + 1) == .letter, kind(end + 2) != .letter { return next }
    }
    if isSpace && min(chunk, end - next) > 3 || isSpelled { return nil }
    return vocabulary.contains(self.hash(hash, next, end)) ? next : nil
  }

  /// Reads digits that stand for letters inside or at the end of a word; nil if they are a number.
  private func readDigits(_ index: Int, _ hash: inout UInt64, _ count: inout Int) -> Int? {
    var end = index
    while kind(end) == .digit { end += 1 }
    guard end - index <= 2 else { return nil }
    var whole = hash
    for digit in index..<end {
      let letter = Self.leet[Int(code(digit) - 0x30)]
      if letter == 0 { return nil }
      whole = Self.step(whole, UInt32(letter))
    }
    guard kind(end) == .letter || vocabulary.contains(whole) else { return nil }
    for digit in index..<end {
      add(UInt32(Self.leet[Int(code(digit) - 0x30)]), digit, &hash)
      count += 1
    }
    return end
  }

  /// Reads a number, an amount, a percentage or a time, or a word whose first letter is written as a digit.
  private func readNumber(_ first: Int) -> Int {
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
      guard isInner || kind(index) == .space && digits == 1, kind(index + 1) == .digit else { break }
      if sign == 0x3A { isTime = true }
      index += 1
    }
    if digits <= 2, index == first + digits, kind(index) == .letter, let end = readLeetWord(first, index) { return end }
    var key = isTime ? Self.timeKey : digits >= 7 ? Self.longKey : isZero ? Self.zeroKey : Self.numberKey
    let after = kind(index) == .space ? index + 1 : index
    if kind(after) == .percent {
      key = Self.percentKey
      index = after + 1
    } else if first > 0 && kind(first - 1) == .currency
      || first > 1 && kind(first - 1) == .space && kind(first - 2) == .currency
    {
      key = isZero ? Self.zeroKey : Self.moneyKey
    } else if kind(after) == .currency {
      key = isZero ? Self.zeroKey : Self.moneyKey
      index = after + 1
    }
    // A number in several pieces is one token.
    if tokenCount > 0, unsafe tokens[tokenCount - 1].key == key, key == Self.numberKey {
      unsafe tokens[tokenCount - 1].end = Int32(index)
    } else {
      emit(key, first, index, .placeholder)
    }
    return index
  }

  /// Reads a UUID, whose digits do not stand for letters (RFC 9562 §4).
  private func readUUID(_ first: Int) -> Int? {
    let end = first + 36
    guard end <= unitCount, code(first + 8) == 0x2D else { return nil }
    for number in 0..<36 {
      let sign = code(first + number)
      switch number {
      case 8, 13, 18, 23: guard sign == 0x2D else { return nil }
      default: guard 0x30...0x39 ~= sign || 0x61...0x66 ~= sign else { return nil }
      }
    }
    guard kind(end) != .letter, kind(end) != .digit else { return nil }
    emit(Self.longKey, first, end, .placeholder)
    return end
  }

  /// Reads a word of the vocabulary whose first letters are written as digits, such as "0ff".
  private func readLeetWord(_ first: Int, _ firstLetter: Int) -> Int? {
    var hash = Self.seed
    for digit in first..<firstLetter {
      let letter = Self.leet[Int(code(digit) - 0x30)]
      if letter == 0 { return nil }
      hash = Self.step(hash, UInt32(letter))
    }
    let start = hash
    var index = firstLetter
    while true {
      if kind(index) == .letter {
        hash = Self.step(hash, code(index))
      } else if kind(index) == .digit, Self.leet[Int(code(index) - 0x30)] != 0 {
        hash = Self.step(hash, UInt32(Self.leet[Int(code(index) - 0x30)]))
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
      if unit >= firstLetter { hash = Self.step(hash, letter) }
    }
    emit(hash, first, index, .word)
    return index
  }

  private func add(_ letter: UInt32, _ index: Int, _ hash: inout UInt64) {
    hash = Self.step(hash, letter)
    unsafe letters[letterCount] = UInt16(truncatingIfNeeded: letter)
    unsafe letterUnits[letterCount] = Int32(truncatingIfNeeded: index)
    letterCount &+= 1
  }

  private func lettersEnd(_ index: Int) -> Int {
    var index = index
    while kind(index) == .letter { index += 1 }
    return index
  }

  private func hash(_ start: UInt64, _ first: Int, _ end: Int) -> UInt64 {
    countSteps(end - first)
    var hash = start
    for index in first..<end { hash = Self.step(hash, code(index)) }
    return hash
  }

  // Addresses

  /// Returns the end of the address that begins at `index` with "http" or "www."; nil if there is none.
  private func addressEnd(_ index: Int) -> Int? {
    guard code(index) == 0x68 || code(index) == 0x77 else { return nil }
    let isHTTP = matches("http", index) && kind(lettersEnd(index)) == .stop && code(lettersEnd(index) + 1) == 0x2F
    guard isHTTP || matches("www.", index) && kind(index + 4) == .letter else { return nil }
    return wordEnd(index)
  }

  private func matches(_ text: StaticString, _ index: Int) -> Bool {
    for offset in 0..<text.utf8CodeUnitCount {
      guard kind(index + offset) != .end, unsafe code(index + offset) == UInt32(text.utf8Start[offset]) else {
        return false
      }
    }
    return true
  }

  /// Returns the end of the text without spaces from `index` on.
  private func wordEnd(_ index: Int) -> Int {
    var index = index
    while kind(index) != .space && kind(index) != .end && kind(index) != .ideograph { index += 1 }
    return index
  }

  /// Adjacent labels with dots between them, as in a domain name.
  private struct LabelRun {
    var start = 0
    var end = 0
    /// The last dot and the one before it; -1 if there is none.
    var lastDot = -1
    var dotBefore = -1
    /// The key of the last label, and its size.
    var hash = AdReader.seed
    var size = 0
  }

  /// Returns the end of the address that begins at `first` with a domain name; nil if it is not a domain name.
  ///
  /// This is called at each dot of each word in a run of labels, so the run is read once for all of these calls.
  private func domainEnd(_ first: Int) -> Int? {
    if first < labels.start || first >= labels.end { labels = labelRun(from: first) }
    let run = labels
    guard run.lastDot > first, run.size >= 2, topLevelDomains.contains(run.hash) else { return nil }
    // The names of country domains are also everyday words, which follow a dot if the writer left out a space.
    if code(run.end) == 0x2F { return wordEnd(run.end) }
    return run.size > 2 || run.dotBefore > first ? run.end : nil
  }

  private func labelRun(from first: Int) -> LabelRun {
    var run = LabelRun(start: first, end: first)
    while true {
      switch kind(run.end) {
      case .letter, .digit:
        run.hash = Self.step(run.hash, code(run.end))
        run.size += 1
      case .hyphen where code(run.end) == 0x2D:
        run.size += 1
      case .stop where code(run.end) == 0x2E && (kind(run.end + 1) == .letter || kind(run.end + 1) == .digit):
        run.hash = Self.seed
        run.size = 0
        run.dotBefore = run.lastDot
        run.lastDot = run.end
      default: return run
      }
      run.end += 1
    }
  }

  private static let domains = [
    "com", "net", "org", "info", "biz", "app", "dev", "shop", "store", "online", "site", "xyz", "top", "vip", "club",
    "link",
    "page", "live", "edu", "gov", "cn", "io", "co", "me", "cc", "ly", "gl", "in", "uk", "de", "fr", "ru", "th", "id",
    "vn", "eu",
    "us", "ai", "tv", "to", "be", "gg", "la", "so", "im", "hk", "tw", "jp", "kr", "es", "it", "nl", "pl", "br", "au",
    "ca",
  ]

  // Keys

  private static let seed: UInt64 = 0xCBF2_9CE4_8422_2325
  private static let boundaryKey: UInt64 = 1
  private static let addressKey: UInt64 = 2
  private static let numberKey: UInt64 = 3
  private static let longKey: UInt64 = 4
  private static let timeKey: UInt64 = 5
  private static let moneyKey: UInt64 = 6
  private static let percentKey: UInt64 = 7
  private static let zeroKey: UInt64 = 8

  /// Returns the key of a word with one more letter (FNV-1a over scalars).
  @inline(__always)
  private static func step(_ hash: UInt64, _ letter: UInt32) -> UInt64 { (hash ^ UInt64(letter)) &* 0x100_0000_01B3 }

  private static func key(_ word: String) -> UInt64 { word.unicodeScalars.reduce(seed) { step($0, $1.value) } }

  private static func key(ofIdeograph code: UInt32) -> UInt64 { UInt64(code) &* 0x9E37_79B9_7F4A_7C15 }

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
