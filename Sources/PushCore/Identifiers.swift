/// The row of a device in the database. The public identifiers of devices are UUIDs; this number never leaves the
/// gateway.
package struct DeviceID: Sendable, Hashable {
  package var row: Int64

  package init(row: Int64) {
    self.row = row
  }
}

/// The row of an app in the database.
package struct AppID: Sendable, Hashable {
  package var row: Int64

  package init(row: Int64) {
    self.row = row
  }
}

/// The row of a user in the database.
package struct PersonID: Sendable, Hashable {
  package var row: Int64

  package init(row: Int64) {
    self.row = row
  }
}

/// The environment of a key or a device token.
package enum Environment: String, Sendable, Codable, CaseIterable {
  case development, production
}

/// The address of an app on a device for providers: 32 random bytes, one token for each device, app and environment.
package struct DeviceToken: Sendable, Hashable {
  private var words: (UInt64, UInt64, UInt64, UInt64)

  package static let size = 32

  package static func random() -> DeviceToken {
    let bytes = randomBytes(count: size)
    guard let token = DeviceToken(bytes: bytes) else { preconditionFailure("a token has 32 bytes") }
    return token
  }

  /// - Returns: nil unless there are exactly 32 bytes.
  package init?(bytes: some Collection<UInt8>) {
    guard bytes.count == DeviceToken.size else { return nil }
    var iterator = bytes.makeIterator()
    func word() -> UInt64 { (0..<8).reduce(0) { value, _ in value << 8 | UInt64(iterator.next() ?? 0) } }
    words = (word(), word(), word(), word())
  }

  /// - Returns: nil unless there are exactly 64 hex digits, of either case.
  package init?(hex: Span<UInt8>) {
    guard hex.count == 2 * DeviceToken.size else { return nil }
    let words = unsafe hex.withUnsafeBytes { text -> (UInt64, UInt64, UInt64, UInt64)? in
      func word(_ offset: Int) -> UInt64? {
        guard let high = hexValue(ofEight: unsafe text.loadUnaligned(fromByteOffset: offset, as: UInt64.self)),
          let low = hexValue(ofEight: unsafe text.loadUnaligned(fromByteOffset: offset + 8, as: UInt64.self))
        else { return nil }
        return UInt64(high) << 32 | UInt64(low)
      }
      guard let first = word(0), let second = word(16), let third = word(32), let fourth = word(48) else { return nil }
      return (first, second, third, fourth)
    }
    guard let words else { return nil }
    self.words = words
  }

  package var bytes: [UInt8] {
    [words.0, words.1, words.2, words.3].flatMap { word in
      (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * $0)) }
    }
  }

  /// 64 lower-case hex digits.
  package var hex: String { String(decoding: bytes.flatMap { [hexDigit($0 >> 4), hexDigit($0 & 15)] }, as: UTF8.self) }

  /// The first 64 of the random bits.
  package var hash: UInt64 { words.0 }

  package static func == (one: DeviceToken, other: DeviceToken) -> Bool { one.words == other.words }

  package func hash(into hasher: inout Hasher) {
    // The bytes are random, so that a part of them is a good hash.
    hasher.combine(words.0)
  }
}

/// An `apns-id`: a UUID that keeps the case of its sender's text, so that the response echoes it byte for byte.
///
/// Two values that differ only in case are equal.
package struct APNSID: Sendable, Hashable, CustomStringConvertible {
  private var high: UInt64
  private var low: UInt64
  /// One bit for each of the 32 digits, 1 for an upper-case letter; the first digit has the highest bit.
  private var upperCase: UInt32

  package static let textSize = 36

  /// Reads the canonical form, 8-4-4-4-12 hex digits; nil for anything else.
  package init?(_ text: Span<UInt8>) {
    guard text.count == APNSID.textSize else { return nil }
    (high, low, upperCase) = (0, 0, 0)
    for offset in text.indices {
      let byte = text[offset]
      if offset == 8 || offset == 13 || offset == 18 || offset == 23 {
        guard byte == UInt8(ascii: "-") else { return nil }
        continue
      }
      guard let digit = hexValue(byte) else { return nil }
      high = high << 4 | low >> 60
      low = low << 4 | UInt64(digit)
      upperCase = upperCase << 1 | (byte & 0x20 == 0 && digit > 9 ? 1 : 0)
    }
  }

  /// Reads the canonical form, 8-4-4-4-12 hex digits; nil for anything else.
  package init?(_ text: String) {
    guard let id = APNSID(Array(text.utf8).span) else { return nil }
    self = id
  }

  /// Makes a random UUID (version 4) in upper case, as Apple's service writes the ids that it makes.
  package init(using generator: inout some RandomNumberGenerator) {
    high = generator.next() & 0xFFFF_FFFF_FFFF_0FFF | 0x4000
    low = generator.next() & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
    upperCase = .max
  }

  /// The 128 bits, without the case of the digits.
  package var words: (UInt64, UInt64) { (high, low) }

  /// Reads the 20 bytes of ``stored``; nil for any other size.
  package init?(stored: [UInt8]) {
    guard let id = unsafe stored.withUnsafeBytes({ unsafe APNSID(stored: $0) }) else { return nil }
    self = id
  }

  /// Reads the 20 bytes of ``stored``; nil for any other size.
  package init?(stored: UnsafeRawBufferPointer) {
    guard stored.count == APNSID.storedSize else { return nil }
    high = unsafe UInt64(bigEndian: stored.loadUnaligned(as: UInt64.self))
    low = unsafe UInt64(bigEndian: stored.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
    upperCase = unsafe UInt32(bigEndian: stored.loadUnaligned(fromByteOffset: 16, as: UInt32.self))
  }

  package static let storedSize = 20

  /// The 20 bytes for the database: the 128 bits and the case of each digit, big-endian.
  package var stored: [UInt8] {
    unsafe [UInt8](unsafeUninitializedCapacity: APNSID.storedSize) { bytes, count in
      unsafe store(in: UnsafeMutableRawBufferPointer(bytes))
      count = APNSID.storedSize
    }
  }

  /// Writes the 20 bytes of ``stored``.
  package func store(in bytes: UnsafeMutableRawBufferPointer) {
    unsafe bytes.storeBytes(of: high.bigEndian, as: UInt64.self)
    unsafe bytes.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self)
    unsafe bytes.storeBytes(of: upperCase.bigEndian, toByteOffset: 16, as: UInt32.self)
  }

  /// Appends the 36 characters of the text.
  package func append(to bytes: inout [UInt8]) {
    unsafe withUnsafeTemporaryAllocation(byteCount: APNSID.textSize, alignment: 8) { text in
      unsafe write(to: text)
      unsafe bytes.append(contentsOf: text)
    }
  }

  /// Writes the 36 characters of the text, eight digits at once.
  package func write(to text: UnsafeMutableRawBufferPointer) {
    let digits = (
      hexDigits(UInt32(truncatingIfNeeded: high >> 32), upperCase: UInt8(truncatingIfNeeded: upperCase >> 24)),
      hexDigits(UInt32(truncatingIfNeeded: high), upperCase: UInt8(truncatingIfNeeded: upperCase >> 16)),
      hexDigits(UInt32(truncatingIfNeeded: low >> 32), upperCase: UInt8(truncatingIfNeeded: upperCase >> 8)),
      hexDigits(UInt32(truncatingIfNeeded: low), upperCase: UInt8(truncatingIfNeeded: upperCase))
    )
    func store(_ digits: some FixedWidthInteger, at offset: Int) {
      unsafe text.storeBytes(of: digits.littleEndian, toByteOffset: offset, as: type(of: digits))
    }
    store(digits.0, at: 0)
    store(UInt32(truncatingIfNeeded: digits.1), at: 9)
    store(UInt32(truncatingIfNeeded: digits.1 >> 32), at: 14)
    store(UInt32(truncatingIfNeeded: digits.2), at: 19)
    store(UInt32(truncatingIfNeeded: digits.2 >> 32), at: 24)
    store(digits.3, at: 28)
    for offset in [8, 13, 18, 23] { store(UInt8(ascii: "-"), at: offset) }
  }

  package var description: String {
    var bytes: [UInt8] = []
    append(to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  package static func == (one: APNSID, other: APNSID) -> Bool { one.high == other.high && one.low == other.low }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(high)
    hasher.combine(low)
  }
}
