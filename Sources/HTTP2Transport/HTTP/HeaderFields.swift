/// A header block to send, built in reused storage.
///
/// Names and values are stored one after another in one array; nghttp2 copies them when the block is submitted.
package struct HeaderFields {
  package struct Field {
    /// The bit of the name in sets of names; 0 for a name that is only sent.
    package var bit: UInt32
    package var name: Range<Int>
    package var value: Range<Int>
    /// True if the value differs each time, so that HPACK should not index it (`NGHTTP2_NV_FLAG_NO_INDEX`: 15 % of
    /// the instructions of a response).
    package var isUnindexed: Bool
  }

  package private(set) var bytes: [UInt8] = []
  package private(set) var fields: [Field] = []

  package init() {}

  /// Creates the head of a response.
  package init(status: Int) {
    append(.status, String(status).utf8)
  }

  /// Removes all fields, keeping the storage.
  package mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    fields.removeAll(keepingCapacity: true)
  }

  /// Appends a field. `isUnindexed` marks a value that differs each time.
  package mutating func append(_ name: HeaderName, _ value: some Sequence<UInt8>, isUnindexed: Bool = false) {
    let start = bytes.count
    let wire = name.wireName
    unsafe bytes.append(contentsOf: UnsafeBufferPointer(start: wire.utf8Start, count: wire.utf8CodeUnitCount))
    let middle = bytes.count
    bytes.append(contentsOf: value)
    fields.append(
      Field(bit: name.bit, name: start..<middle, value: middle..<bytes.count, isUnindexed: isUnindexed))
  }

  /// Passes the bytes of the value of the field at an index to `body`, which may overwrite them.
  package mutating func overwriteValue(_ index: Int, _ body: (UnsafeMutableRawBufferPointer) -> Void) {
    let range = fields[index].value
    unsafe bytes.withUnsafeMutableBytes { unsafe body(UnsafeMutableRawBufferPointer(rebasing: $0[range])) }
  }

  /// Appends a field with a constant value.
  package mutating func append(_ name: HeaderName, _ value: StaticString) {
    unsafe append(name, UnsafeBufferPointer(start: value.utf8Start, count: value.utf8CodeUnitCount))
  }

  /// Appends a field that the gateway sends and never reads.
  ///
  /// - Parameter name: the name in lower case (RFC 9113 §8.2).
  package mutating func append(sent name: StaticString, _ value: String) {
    let start = bytes.count
    unsafe bytes.append(contentsOf: UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
    let middle = bytes.count
    bytes.append(contentsOf: value.utf8)
    fields.append(Field(bit: 0, name: start..<middle, value: middle..<bytes.count, isUnindexed: false))
  }
}
