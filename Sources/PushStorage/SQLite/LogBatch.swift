import PushCore

/// Rows of the delivery log as bytes, one after another.
///
/// A row is the time (8 bytes), the event's code (1), the id (20), the device and the app (8 each, -1 for none), the size
/// of the detail (2) and the detail; numbers come lowest byte first. Where the event's highest bit is set, the detail
/// begins with the 20 bytes of the unique id.
package struct LogBatch: Sendable {
  package private(set) var bytes: [UInt8] = []
  package private(set) var count = 0
  /// The earliest and the latest time, in milliseconds since 1970.
  package private(set) var first = Int64.max
  package private(set) var last = Int64.min

  package init() {}

  /// A row's number is its batch's, times two to this, plus its place there.
  package static let numberBits: Int64 = 20
  private static let fixedSize = 47
  private static let uniqueIDMark: UInt8 = 0x80

  /// Codes of events are places here: the order never changes, new ones come last.
  private static let events: [DeliveryEvent] = [
    .accepted, .refused, .stored, .collapsed, .transmitted, .acknowledged, .presented, .suppressed, .viewed, .closed,
    .action, .expired, .dropped, .ignored, .fault, .undeliverable,
  ]

  package mutating func append(_ row: borrowing DeliveryLog.Row) {
    let idSize = row.uniqueID == nil ? 0 : APNSID.storedSize
    let text = row.detail
    let detail = text.utf8.span
    let detailSize = min(detail.count, Int(UInt16.max) - idSize)
    let code = UInt8(LogBatch.events.firstIndex(of: row.event) ?? 127)
    unsafe withUnsafeTemporaryAllocation(byteCount: LogBatch.fixedSize + idSize, alignment: 8) { fixed in
      func store(_ value: some FixedWidthInteger, at place: Int) {
        unsafe fixed.storeBytes(of: value.littleEndian, toByteOffset: place, as: type(of: value))
      }
      store(row.at, at: 0)
      store(code | (idSize > 0 ? LogBatch.uniqueIDMark : 0), at: 8)
      unsafe row.id.store(in: UnsafeMutableRawBufferPointer(rebasing: fixed[9..<29]))
      store(row.device?.row ?? -1, at: 29)
      store(row.app?.row ?? -1, at: 37)
      store(UInt16(detailSize + idSize), at: 45)
      if let id = row.uniqueID {
        unsafe id.store(in: UnsafeMutableRawBufferPointer(rebasing: fixed[LogBatch.fixedSize...]))
      }
      unsafe bytes.append(contentsOf: fixed)
    }
    unsafe detail.extracting(first: detailSize).withUnsafeBufferPointer { unsafe bytes.append(contentsOf: $0) }
    count += 1
    first = min(first, row.at)
    last = max(last, row.at)
  }

  /// Moves another batch's rows behind these; that one keeps its storage.
  package mutating func take(_ other: inout LogBatch) {
    bytes += other.bytes
    count += other.count
    first = min(first, other.first)
    last = max(last, other.last)
    other.bytes.removeAll(keepingCapacity: true)
    (other.count, other.first, other.last) = (0, .max, .min)
  }

  /// The rows of a batch, in order; nothing after what makes no sense.
  package static func rows(_ bytes: [UInt8]) -> [DeliveryLog.Row] {
    var rows: [DeliveryLog.Row] = []
    var start = 0
    func integer<Integer: FixedWidthInteger>(_ place: Int, _ type: Integer.Type) -> Integer {
      unsafe bytes.withUnsafeBytes {
        Integer(littleEndian: unsafe $0.loadUnaligned(fromByteOffset: start + place, as: type))
      }
    }
    while start + fixedSize <= bytes.count {
      let size = Int(integer(45, UInt16.self))
      let end = start + fixedSize + size
      guard end <= bytes.count, let id = APNSID(stored: Array(bytes[start + 9..<start + 29])) else { break }
      let code = Int(bytes[start + 8] & ~uniqueIDMark)
      var detail = start + fixedSize
      var uniqueID: APNSID?
      if bytes[start + 8] & uniqueIDMark != 0 {
        guard size >= APNSID.storedSize else { break }
        uniqueID = APNSID(stored: Array(bytes[detail..<detail + APNSID.storedSize]))
        detail += APNSID.storedSize
      }
      let at = integer(0, Int64.self)
      // A newer version's event is not known here, and no clock shows some times.
      if events.indices.contains(code), StoredRange.milliseconds.contains(at) {
        let (device, app) = (integer(29, Int64.self), integer(37, Int64.self))
        rows.append(
          DeliveryLog.Row(
            at: at, event: events[code], id: id, uniqueID: uniqueID,
            device: device < 0 ? nil : DeviceID(row: device), app: app < 0 ? nil : AppID(row: app),
            detail: String(decoding: bytes[detail..<end], as: UTF8.self)))
      }
      start = end
    }
    return rows
  }
}
