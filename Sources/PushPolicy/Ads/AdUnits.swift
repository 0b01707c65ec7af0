/// The units of texts: folded visible scalars, each with its position in the bytes.
@safe
final class AdUnits {
  /// The maximum size of all texts of a notification together, in bytes; the rest is ignored.
  static let maximumSize = 8192
  /// The maximum number of units. A scalar that expands has at least 2 bytes and becomes at most 5 units, and each text adds
  /// its end.
  static let capacity = maximumSize * 3 + 256

  private let folding = LetterFolding.shared
  private let expansions: [UInt32: [UInt32]]

  let units: UnsafeMutablePointer<UInt32>
  private let offsets: UnsafeMutablePointer<Int32>
  private(set) var count = 0
  private var size: Int32 = 0

  #if DEBUG
    /// The number of units examined so far, for tests: it must grow linearly with the size of the text.
    private(set) var steps = 0
  #endif

  init() {
    expansions = Dictionary(
      LetterFolding.expansions.map { ($0.0.value, $0.1.unicodeScalars.map(\.value)) }
    ) { first, _ in first }
    unsafe units = .allocate(capacity: AdUnits.capacity)
    unsafe offsets = .allocate(capacity: AdUnits.capacity)
  }

  deinit {
    unsafe units.deallocate()
    unsafe offsets.deallocate()
  }

  /// Removes the texts of the last notification.
  func reset() {
    count = 0
    size = 0
  }

  /// Returns the first byte of a unit in all texts together.
  func offset(of unit: Int32) -> Int { Int(unsafe offsets[Int(unit)]) }

  // Texts

  /// Adds a text, as ``append(_:)``.
  func append(_ text: String) {
    var text = text
    text.withUTF8 { unsafe append($0) }
  }

  /// Adds a text. Each byte that is not valid UTF-8 counts as U+FFFD, which is a letter.
  func append(_ text: UnsafeBufferPointer<UInt8>) {
    // 256 units are reserved for the ends of texts.
    let room = self.count < AdUnits.maximumSize * 3 ? AdUnits.maximumSize - Int(size) : 0
    let count = min(text.count, max(0, room))
    guard let base = text.baseAddress, count > 0 else { return end(Int32(text.count)) }
    var position = 0
    var unit = self.count
    let start = size
    // The first unit that is shown from right to left.
    var reversed: Int?
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
      case UInt32(LetterFolding.Class.dropped.rawValue):
        if scalar == Self.override {
          if reversed == nil { reversed = unit }
        } else if scalar == Self.overrideEnd, let first = reversed {
          reverse(first, unit)
          reversed = nil
        }
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
    if let reversed { reverse(reversed, unit) }
    self.count = unit
    end(Int32(text.count))
  }

  /// The control for text from right to left (RLO), and the control that ends it (PDF; UAX #9).
  private static let override: UInt32 = 0x202E
  private static let overrideEnd: UInt32 = 0x202C

  /// Puts the units from `first` up to `end` into the order in which they are shown.
  private func reverse(_ first: Int, _ end: Int) {
    var first = first
    var last = end - 1
    while first < last {
      let unit = unsafe units[first]
      let offset = unsafe offsets[first]
      unsafe units[first] = units[last]
      unsafe offsets[first] = offsets[last]
      unsafe units[last] = unit
      unsafe offsets[last] = offset
      first += 1
      last -= 1
    }
  }

  /// Ends a text of `count` bytes.
  private func end(_ count: Int32) {
    guard self.count < AdUnits.maximumSize * 3 + 200 else {
      size += count
      return
    }
    unsafe units[self.count] = LetterFolding.entry(.end, 0)
    unsafe offsets[self.count] = size + min(count, Int32(max(0, AdUnits.maximumSize - Int(size))))
    self.count += 1
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

  /// Adds ends behind the last unit, so that a lookahead of a few units needs no bounds check.
  func pad() {
    for index in count..<(count + 4) { unsafe units[index] = LetterFolding.entry(.end, 0) }
  }

  // Reading

  /// Counts examined units, in debug builds.
  @inline(__always)
  func countSteps(_ count: Int = 1) {
    #if DEBUG
      steps &+= count
    #endif
  }

  @inline(__always)
  func kind(_ index: Int) -> LetterFolding.Class {
    countSteps()
    // The last unit is an end, and no lookahead passes an end.
    return AdUnits.kind(of: unsafe units[index])
  }

  @inline(__always)
  func code(_ index: Int) -> UInt32 { AdUnits.code(of: unsafe units[index]) }

  @inline(__always)
  static func kind(of unit: UInt32) -> LetterFolding.Class {
    unsafe LetterFolding.Class(rawValue: UInt8(truncatingIfNeeded: unit >> 24)).unsafelyUnwrapped
  }

  @inline(__always)
  static func code(of unit: UInt32) -> UInt32 { unit & 0x1FFFFF }

  /// Returns true if an ideograph may be the first part of a split ideograph.
  func isSplit(_ index: Int) -> Bool { unsafe units[index] & LetterFolding.splitFlag != 0 }

  /// Returns the end of the letters from `index` on.
  func lettersEnd(_ index: Int) -> Int {
    var index = index
    while kind(index) == .letter { index += 1 }
    return index
  }

  /// Returns the end of the UUID at `first` (RFC 9562 §4); nil if there is none.
  func uuidEnd(_ first: Int) -> Int? {
    let end = first + 36
    guard end <= count, code(first + 8) == 0x2D else { return nil }
    for number in 0..<36 {
      let sign = code(first + number)
      switch number {
      case 8, 13, 18, 23: guard sign == 0x2D else { return nil }
      default: guard 0x30...0x39 ~= sign || 0x61...0x66 ~= sign else { return nil }
      }
    }
    guard kind(end) != .letter, kind(end) != .digit else { return nil }
    return end
  }

  /// Returns the key of a word with more letters.
  func hash(_ start: UInt64, _ first: Int, _ end: Int) -> UInt64 {
    countSteps(end - first)
    var hash = start
    for index in first..<end { hash = AdKey.step(hash, code(index)) }
    return hash
  }
}
