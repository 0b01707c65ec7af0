import PushCore

/// One received HTTP message: the fields that the gateway reads, and the body.
///
/// It owns its bytes and is reused for later messages of the loop, so that receiving allocates nothing in the long
/// run. Not `Sendable`: it belongs to the loop of its connection.
@safe package final class Message {
  /// The values of the fields, one after another, in the first `fieldsSize` bytes.
  private var storage = unsafe UnsafeMutableRawBufferPointer(start: nil, count: 0)
  /// The total size of the stored values, in bytes.
  package private(set) var fieldsSize = 0
  /// The position of each value, indexed by the raw value of its name; valid only for the names in ``present``.
  private var valueRanges = [32 of ValueRange](repeating: ValueRange())
  /// The position of a value in the storage; small, since every connected device has a message.
  private struct ValueRange {
    var start: UInt16 = 0
    var end: UInt16 = 0
    var range: Range<Int> { Int(start)..<Int(end) }
  }

  /// The set of received names, one bit each.
  private var present: UInt32 = 0
  /// The body so far, truncated to `maximumBodySize`.
  package private(set) var body: [UInt8] = []
  /// The size of the body as sent, in bytes, including truncated bytes.
  package private(set) var bodySize = 0
  /// The maximum number of body bytes to store; further bytes are counted and dropped.
  package var maximumBodySize = 0
  /// The fields of other names, in the order of their arrival: only of a message of another API, or of a webhook. Their
  /// size is limited with that of all fields.
  package private(set) var otherFields: [(name: String, value: String)] = []
  /// True if a field that may occur only once was received twice.
  package private(set) var hasDuplicateFields = false

  package init() {}

  deinit { unsafe storage.deallocate() }

  private var unread = UnreadFields.all
  /// The total size of all received fields, as defined in RFC 9113 §6.5.2.
  package private(set) var fieldListSize = 0
  /// True if the message exceeded the limit for header fields; the excess fields were dropped.
  package var hasExcessFields = false

  /// Counts one field, and stores it if the gateway reads its name.
  ///
  /// - Returns: false if the fields exceed the limit.
  package func receive(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Bool {
    guard unsafe count(name, value) else { return false }
    guard let name = unsafe HeaderName(name) else {
      unsafe receiveOther(name, value)
      return true
    }
    if name == .userAgent, unread != .allButUserAgent { return true }
    unsafe append(name, value)
    if name == .path { unread = unsafe UnreadFields(path: value) }
    return true
  }

  /// Stores a field without a ``HeaderName``, or with a name that only a few APIs read.
  private func receiveOther(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
    switch unread {
    case .all, .allButUserAgent: break
    case .allButContentType:
      if unsafe name.equals(HeaderName.contentType.wireName) { unsafe append(.contentType, value) }
    case .none:
      unsafe otherFields.append((String(decoding: name, as: UTF8.self), String(decoding: value, as: UTF8.self)))
    }
  }

  /// The fields of other names that are dropped, by the path of the request, which precedes all of them.
  private enum UnreadFields {
    /// Pushes: nearly each has a user agent and a content type.
    case all
    /// The management of channels needs the user agent.
    case allButUserAgent
    /// Messages have several content types.
    case allButContentType
    /// The messages of other APIs and webhooks have many names.
    case none

    /// - Parameter path: the value of `:path`; nearly all differ in the second byte.
    init(path: UnsafeRawBufferPointer) {
      self = .all
      guard path.count > 1 else { return }
      switch unsafe path[1] {
      case UInt8(ascii: "1"): if unsafe path.starts(with: "/1/") { self = .allButUserAgent }
      case UInt8(ascii: "s"): if unsafe path.starts(with: "/send/") { self = .allButContentType }
      case UInt8(ascii: "n"): if unsafe path.starts(with: "/ntfy") { self = .none }
      case UInt8(ascii: "g"): if unsafe path.starts(with: "/gotify/") { self = .none }
      case UInt8(ascii: "h"): if unsafe path.starts(with: "/hooks/") { self = .none }
      case UInt8(ascii: "w"): if unsafe path.starts(with: "/webpush/") { self = .none }
      default: break
      }
    }
  }

  /// Counts one field of the trailers, which share the limit of the head.
  ///
  /// - Returns: false if the fields exceed the limit.
  package func count(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Bool {
    // Both sizes are bounded by nghttp2's limit for a frame's block of fields.
    fieldListSize &+= name.count &+ value.count &+ Message.fieldOverhead
    return fieldListSize <= Limits.maximumHeaderListSize
  }

  /// The additional size of each field, in bytes (RFC 9113 §6.5.2).
  private static let fieldOverhead = 32

  /// Stores one field.
  package func append(_ name: HeaderName, _ value: UnsafeRawBufferPointer) {
    guard present & name.bit == 0 else {
      if name == .cookie { return unsafe appendCookie(value) }
      // For a field that may occur several times, the first value is used.
      if name.mustBeSingle { hasDuplicateFields = true }
      return
    }
    let end = fieldsSize + value.count
    if unsafe end > storage.count { grow(to: end) }
    unsafe UnsafeMutableRawBufferPointer(rebasing: storage[fieldsSize..<end]).copyMemory(from: value)
    valueRanges[Int(name.rawValue)] = ValueRange(start: UInt16(fieldsSize), end: UInt16(end))
    fieldsSize = end
    present |= name.bit
  }

  /// Appends a further cookie: a browser sends a field for each, one after another (RFC 9113 §8.2.3). Cookies after
  /// another field are dropped.
  private func appendCookie(_ value: UnsafeRawBufferPointer) {
    let index = Int(HeaderName.cookie.rawValue)
    let end = fieldsSize + 2 + value.count
    guard Int(valueRanges[index].end) == fieldsSize, end <= Limits.maximumHeaderListSize else { return }
    if unsafe end > storage.count { grow(to: end) }
    unsafe storage[fieldsSize] = UInt8(ascii: ";")
    unsafe storage[fieldsSize + 1] = UInt8(ascii: " ")
    unsafe UnsafeMutableRawBufferPointer(rebasing: storage[fieldsSize + 2..<end]).copyMemory(from: value)
    valueRanges[index].end = UInt16(end)
    fieldsSize = end
  }

  private func grow(to size: Int) {
    let size = unsafe max(size, 2 * storage.count, 256)
    let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 16)
    unsafe larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: storage[..<fieldsSize]))
    unsafe storage.deallocate()
    unsafe storage = larger
  }

  /// Appends a piece of the body.
  ///
  /// - Returns: the number of stored bytes.
  @discardableResult
  package func appendBody(_ bytes: UnsafeRawBufferPointer) -> Int {
    bodySize += bytes.count
    let size = min(maximumBodySize - body.count, bytes.count)
    guard size > 0 else { return 0 }
    unsafe body.append(contentsOf: bytes.prefix(size))
    return size
  }

  /// The bytes of a field's value, or nil if the message has no such field. They are valid until the message changes.
  package subscript(name: HeaderName) -> Span<UInt8>? {
    @_lifetime(borrow self)
    get {
      guard present & name.bit != 0 else { return nil }
      let value = unsafe UnsafeRawBufferPointer(rebasing: storage[valueRanges[Int(name.rawValue)].range])
      return unsafe _overrideLifetime(value.assumingMemoryBound(to: UInt8.self).span, borrowing: self)
    }
  }

  /// Returns true if the message has a field.
  @inline(__always) package func has(_ name: HeaderName) -> Bool { present & name.bit != 0 }

  /// Returns a copy of a field's value that the caller may keep.
  package func bytes(_ name: HeaderName) -> [UInt8]? {
    guard let value = self[name] else { return nil }
    return [UInt8](value)
  }

  /// Returns a field's value as text; invalid UTF-8 is repaired.
  package func text(_ name: HeaderName) -> String? {
    guard let value = self[name] else { return nil }
    return String(repairing: value)
  }

  /// Returns true if the field exists with exactly this value.
  package func has(_ name: HeaderName, _ value: StaticString) -> Bool {
    guard let bytes = self[name] else { return false }
    return bytes.equals(value)
  }

  /// Returns true if the field exists and its value begins with these bytes.
  package func has(_ name: HeaderName, beginningWith value: StaticString) -> Bool {
    guard let bytes = self[name] else { return false }
    return bytes.starts(with: value)
  }

  /// True if the peer expects status 100 before it sends the body (RFC 9110 §10.1.1).
  package var expectsContinue: Bool {
    guard let value = self[.expect], value.count == 12 else { return false }
    return value.extracting(0..<4).equals("100-") && String(repairing: value).lowercased() == "100-continue"
  }

  /// Resets the message for its next use, keeping storage of at most ``keptCapacity`` bytes.
  package func reset() {
    if unsafe storage.count > Message.keptCapacity { forgetFields() }
    fieldsSize = 0
    fieldListSize = 0
    hasExcessFields = false
    present = 0
    unread = .all
    otherFields = []
    body.removeAll(keepingCapacity: body.capacity <= Message.keptCapacity)
    bodySize = 0
    maximumBodySize = 0
    hasDuplicateFields = false
  }

  /// Frees the fields of a message that has been processed and whose stream stays open.
  package func forgetFields() {
    unsafe storage.deallocate()
    unsafe storage = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    fieldsSize = 0
    present = 0
  }

  private static let keptCapacity = 8192
}

extension UnsafeRawBufferPointer {
  /// Returns true if the bytes begin with those of a literal.
  fileprivate func starts(with text: StaticString) -> Bool {
    let size = text.utf8CodeUnitCount
    return unsafe count >= size && UnsafeRawBufferPointer(rebasing: self[..<size]).equals(text)
  }
}
