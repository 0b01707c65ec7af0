import PushCore

/// One HTTP message as it arrives: the fields this gateway reads, and the body.
///
/// It owns its bytes and is used again for the next message of the loop, so that in the long run receiving allocates
/// nothing. Not `Sendable`: it belongs to the loop of its connection.
@safe package final class Message {
  /// Values of fields, one after another; of the whole only `fieldsSize` bytes are theirs.
  private var storage = unsafe UnsafeMutableRawBufferPointer(start: nil, count: 0)
  /// The size of all values kept, in bytes.
  package private(set) var fieldsSize = 0
  /// Where the value of each name is, by the name's raw value; those of ``present`` only.
  private var places = [32 of Place](repeating: Place())
  /// Where a value is in the storage; small, for every device that is connected has a message.
  private struct Place {
    var start: UInt16 = 0
    var end: UInt16 = 0
    var range: Range<Int> { Int(start)..<Int(end) }
  }

  /// A bit for each name that has come.
  private var present: UInt32 = 0
  /// The body so far, cut at `maximumBodySize`.
  package private(set) var body: [UInt8] = []
  /// The size of the body as sent, in bytes, also past the limit.
  package private(set) var bodySize = 0
  /// What is kept of the body, in bytes; what comes beyond is counted and dropped.
  package var maximumBodySize = 0
  /// Whether a field that may come once came twice.
  package private(set) var hasDuplicateFields = false

  package init() {}

  deinit { unsafe storage.deallocate() }

  /// The size of all fields that came, as RFC 9113 §6.5.2 counts it.
  package private(set) var fieldListSize = 0
  /// Whether more fields came than this gateway takes, of which the rest was dropped.
  package var hasExcessFields = false

  /// Counts one field, and keeps it if it says anything to this gateway.
  ///
  /// - Returns: false when the fields are more than this gateway takes.
  package func receive(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Bool {
    guard unsafe count(name, value) else { return false }
    // Which program sends is of interest where channels are managed alone, and nearly each push says it.
    if let name = unsafe HeaderName(name), name != .userAgent || has(.path, beginningWith: "/1/") {
      unsafe append(name, value)
    }
    return true
  }

  /// Counts one field of the trailers, which are one list with the head's.
  ///
  /// - Returns: false when the fields are more than this gateway takes.
  package func count(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Bool {
    // Neither is larger than a frame's block of fields, which nghttp2 bounds.
    fieldListSize &+= name.count &+ value.count &+ Message.fieldOverhead
    return fieldListSize <= Limits.maximumHeaderListSize
  }

  /// What a field counts beyond its bytes (RFC 9113 §6.5.2).
  private static let fieldOverhead = 32

  /// Keeps one field.
  package func append(_ name: HeaderName, _ value: UnsafeRawBufferPointer) {
    guard present & name.bit == 0 else {
      // Of a field that may come several times the first counts.
      if name.mustBeSingle { hasDuplicateFields = true }
      return
    }
    let end = fieldsSize + value.count
    if unsafe end > storage.count { grow(to: end) }
    unsafe UnsafeMutableRawBufferPointer(rebasing: storage[fieldsSize..<end]).copyMemory(from: value)
    places[Int(name.rawValue)] = Place(start: UInt16(fieldsSize), end: UInt16(end))
    fieldsSize = end
    present |= name.bit
  }

  private func grow(to size: Int) {
    let size = unsafe max(size, 2 * storage.count, 256)
    let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 16)
    unsafe larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: storage[..<fieldsSize]))
    unsafe storage.deallocate()
    unsafe storage = larger
  }

  /// Takes a piece of the body.
  ///
  /// - Returns: how many bytes of it are kept.
  @discardableResult
  package func appendBody(_ bytes: UnsafeRawBufferPointer) -> Int {
    bodySize += bytes.count
    let size = min(maximumBodySize - body.count, bytes.count)
    guard size > 0 else { return 0 }
    unsafe body.append(contentsOf: bytes.prefix(size))
    return size
  }

  /// The bytes of a field's value, or nil when the message has no such field. They are there until the message changes.
  package subscript(name: HeaderName) -> Span<UInt8>? {
    @_lifetime(borrow self)
    get {
      guard present & name.bit != 0 else { return nil }
      let value = unsafe UnsafeRawBufferPointer(rebasing: storage[places[Int(name.rawValue)].range])
      return unsafe _overrideLifetime(value.assumingMemoryBound(to: UInt8.self).span, borrowing: self)
    }
  }

  /// A copy of a field's value, which may be kept.
  package func bytes(_ name: HeaderName) -> [UInt8]? {
    guard let value = self[name] else { return nil }
    return [UInt8](value)
  }

  /// A field's value as text; invalid UTF-8 is repaired.
  package func text(_ name: HeaderName) -> String? {
    guard let value = self[name] else { return nil }
    return String(repairing: value)
  }

  /// Whether a field is there with exactly this value.
  package func has(_ name: HeaderName, _ value: StaticString) -> Bool {
    guard let bytes = self[name] else { return false }
    return bytes.equals(value)
  }

  /// Whether a field is there whose value begins so.
  package func has(_ name: HeaderName, beginningWith value: StaticString) -> Bool {
    guard let bytes = self[name] else { return false }
    return bytes.starts(with: value)
  }

  /// Whether the peer waits for a 100 before it sends the body (RFC 9110 §10.1.1).
  package var expectsContinue: Bool {
    guard let value = self[.expect], value.count == 12 else { return false }
    return value.extracting(0..<4).equals("100-") && String(repairing: value).lowercased() == "100-continue"
  }

  /// Makes it as new, keeping its storage unless a large message made that large.
  package func reset() {
    if unsafe storage.count > Message.keptCapacity { forgetFields() }
    fieldsSize = 0
    fieldListSize = 0
    hasExcessFields = false
    present = 0
    body.removeAll(keepingCapacity: body.capacity <= Message.keptCapacity)
    bodySize = 0
    maximumBodySize = 0
    hasDuplicateFields = false
  }

  /// Frees the fields of a message that has been read and whose stream stays open.
  package func forgetFields() {
    unsafe storage.deallocate()
    unsafe storage = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    fieldsSize = 0
    present = 0
  }

  private static let keptCapacity = 8192
}
