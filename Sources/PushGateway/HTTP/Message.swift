/// One HTTP message as it arrives: the fields this gateway reads, and the body.
///
/// It owns its bytes and is used again for the next message of the loop, so that in the long run receiving allocates
/// nothing. Not `Sendable`: it belongs to the loop of its connection.
final class Message {
  /// Values of fields, one after another.
  private var storage: [UInt8] = []
  private var fields: [(name: HeaderName, value: Range<Int>)] = []
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

  /// Keeps one field.
  func append(_ name: HeaderName, _ value: UnsafeRawBufferPointer) {
    if name.mustBeSingle, range(of: name) != nil { hasDuplicateFields = true }
    let start = storage.count
    unsafe storage.append(contentsOf: value)
    fields.append((name, start..<storage.count))
  }

  /// Takes a piece of the body.
  func appendBody(_ bytes: UnsafeRawBufferPointer) {
    bodySize += bytes.count
    let room = maximumBodySize - body.count
    if room > 0 { unsafe body.append(contentsOf: bytes.prefix(room)) }
  }

  /// The bytes of a field's value, or nil when the message has no such field.
  subscript(name: HeaderName) -> ArraySlice<UInt8>? {
    range(of: name).map { storage[$0] }
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
    fields.removeAll(keepingCapacity: true)
    body.removeAll(keepingCapacity: body.capacity <= Message.keptCapacity)
    bodySize = 0
    maximumBodySize = 0
    hasDuplicateFields = false
  }

  private static let keptCapacity = 8192

  private func range(of name: HeaderName) -> Range<Int>? {
    for field in fields where field.name == name { return field.value }
    return nil
  }
}

extension Collection<UInt8> {
  /// Whether these bytes are those of a literal.
  func equals(_ text: StaticString) -> Bool {
    unsafe elementsEqual(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }
}
