import Glibc

/// One HTTP message as it arrives: the fields this gateway reads, and the body.
///
/// It owns its bytes and is used again for the next message of the loop, so that in the long run receiving allocates
/// nothing. Not `Sendable`: it belongs to the loop of its connection.
final class Message {
  /// Values of fields, one after another.
  private var storage: [UInt8] = []
  /// Where the value of each name is, by the name's raw value; those of ``present`` only.
  private var places = [Range<Int>](repeating: 0..<0, count: HeaderName.allCases.count)
  /// A bit for each name that has come.
  private var present: UInt32 = 0
  /// The body so far, cut at `maximumBodySize`.
  private(set) var body: [UInt8] = []
  /// The size of the body as sent, in bytes, also past the limit.
  private(set) var bodySize = 0
  /// What is kept of the body, in bytes; what comes beyond is counted and dropped.
  var maximumBodySize = 0
  /// Whether a field that may come once came twice.
  private(set) var hasDuplicateFields = false

  /// The size of all values kept, in bytes.
  var fieldsSize: Int { storage.count }

  /// Keeps one field, unless the message's fields are more than this gateway keeps.
  func keep(_ name: HeaderName, _ value: UnsafeRawBufferPointer) -> Bool {
    guard storage.count + value.count <= Limits.maximumHeaderListSize else { return false }
    unsafe append(name, value)
    return true
  }

  /// Keeps one field.
  func append(_ name: HeaderName, _ value: UnsafeRawBufferPointer) {
    guard present & name.bit == 0 else {
      // Of a field that may come several times the first counts.
      if name.mustBeSingle { hasDuplicateFields = true }
      return
    }
    let start = storage.count
    unsafe storage.append(contentsOf: value)
    places[Int(name.rawValue)] = start..<storage.count
    present |= name.bit
  }

  /// Takes a piece of the body.
  func appendBody(_ bytes: UnsafeRawBufferPointer) {
    bodySize += bytes.count
    let room = maximumBodySize - body.count
    if room > 0 { unsafe body.append(contentsOf: bytes.prefix(room)) }
  }

  /// The bytes of a field's value, or nil when the message has no such field.
  subscript(name: HeaderName) -> ArraySlice<UInt8>? {
    present & name.bit == 0 ? nil : storage[places[Int(name.rawValue)]]
  }

  /// A field's value as text; invalid UTF-8 is repaired.
  func text(_ name: HeaderName) -> String? {
    self[name].map { String(decoding: $0, as: UTF8.self) }
  }

  /// Whether a field is there with exactly this value.
  func has(_ name: HeaderName, _ value: StaticString) -> Bool {
    self[name]?.equals(value) ?? false
  }

  /// Makes it as new, keeping its storage unless a large body made that large.
  func reset() {
    storage.removeAll(keepingCapacity: storage.capacity <= Message.keptCapacity)
    present = 0
    body.removeAll(keepingCapacity: body.capacity <= Message.keptCapacity)
    bodySize = 0
    maximumBodySize = 0
    hasDuplicateFields = false
  }

  private static let keptCapacity = 8192
}

extension HeaderName {
  fileprivate var bit: UInt32 { 1 << UInt32(rawValue) }
}

extension ArraySlice<UInt8> {
  /// Whether these bytes are those of a literal.
  func equals(_ text: StaticString) -> Bool { unsafe withUnsafeBytes { unsafe $0.equals(text) } }

  /// Whether these bytes begin with those of a literal.
  func starts(with text: StaticString) -> Bool {
    unsafe withUnsafeBytes { unsafe UnsafeRawBufferPointer(rebasing: $0.prefix(text.utf8CodeUnitCount)).equals(text) }
  }
}

extension UnsafeRawBufferPointer {
  /// Whether these bytes are those of a literal.
  func equals(_ text: StaticString) -> Bool {
    guard count == text.utf8CodeUnitCount else { return false }
    guard let start = baseAddress else { return true }
    return unsafe memcmp(start, text.utf8Start, count) == 0
  }
}
