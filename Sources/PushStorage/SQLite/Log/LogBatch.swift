package import PushCore
package import PushPolicy

/// Rows of the delivery log as bytes, one after another.
///
/// A row is the time (8 bytes), the event's code (1), the id (20), the device or the address of a group (8), the app
/// (8), the size of the detail (2) and the detail. Numbers are little-endian; no device and no app are -1.
///
/// - If the highest bit of the event's code is set, the detail begins with the 20 bytes of the unique id.
/// - If the next bit is set, the detail is a code of one byte, or JSON (``DeliveryDetail``); otherwise it is text, as
///   older versions wrote it.
/// - If the bit after that is set, the detail ends with the kept text and two bytes: the size of the text in bits 0
///   to 14, ``KeptText/isForSenders`` in bit 15.
package struct LogBatch: Sendable {
  package private(set) var bytes: [UInt8] = []
  package private(set) var count = 0
  /// The earliest and the latest time of a row, in milliseconds since 1970.
  package private(set) var first = Int64.max
  package private(set) var last = Int64.min
  /// The number of rows of each event, by its code.
  package private(set) var counts = InlineArray<22, UInt32>(repeating: 0)

  package init() {}

  /// The number of bits of a row's index: a row's number is the number of its batch, shifted by this, plus the index.
  package static let numberBits: Int64 = 20
  private static let fixedSize = LogLayout.fixedSize
  private static let uniqueIDMark = LogLayout.uniqueIDMark
  private static let factsMark: UInt8 = 0x40
  private static let textMark: UInt8 = 0x20
  /// The number of bytes of a text's size.
  private static let textSizeSize = 2
  /// The bit of a text's size for ``KeptText/isForSenders``.
  private static let openTextMark = 0x8000

  /// The events; the code of an event is its index here. The order never changes, and new events come last.
  package static let events: [DeliveryEvent] = [
    .accepted, .refused, .stored, .collapsed, .transmitted, .acknowledged, .presented, .suppressed, .viewed, .closed,
    .action, .expired, .dropped, .ignored, .fault, .undeliverable, .traced,
    .retracted, .reported, .lost, .unsubscribed, .forwarded,
  ]

  package mutating func append(_ row: borrowing LogRow) {
    let code = row.detail.code
    append(row.event, at: row.at, id: row.id, uniqueID: row.uniqueID, device: row.device, app: row.app, code: code)
    if case .nothing = row.detail {
    } else if code == nil {
      appendLong(row.detail, idSize: row.uniqueID == nil ? 0 : APNSID.storedSize)
    }
  }

  /// Appends a row with the text by which a search finds it; nil: it has none.
  ///
  /// - Parameter isForSenders: see ``KeptText/isForSenders``.
  package mutating func append(
    _ row: borrowing LogRow, keeping text: AlertPresentation?, isForSenders: Bool = false
  ) {
    let start = bytes.count
    append(row)
    guard let text else { return }
    let textStart = bytes.count
    append(text.title)
    keep(line: text.subtitle)
    keep(line: text.body)
    endText(from: textStart, of: start, isForSenders)
  }

  /// Appends a row with the text that another log had for it; nil: it has no text.
  mutating func append(_ row: borrowing LogRow, keeping text: String?) {
    let start = bytes.count
    append(row)
    guard let text else { return }
    let textStart = bytes.count
    append(text)
    endText(from: textStart, of: start, false)
  }

  /// Truncates the text that begins at `start` and ends the last row, and appends its size.
  private mutating func endText(from start: Int, of row: Int, _ isForSenders: Bool) {
    var end = min(bytes.count, start + Limits.maximumKeptText, row + LogBatch.fixedSize + Int(UInt16.max) - 2)
    guard end > start else { return bytes.removeSubrange(start...) }
    if end < bytes.count {
      // Does not cut within a UTF-8 sequence.
      while end > start, bytes[end] & 0xC0 == 0x80 { end -= 1 }
      bytes.removeSubrange(end...)
    }
    let size = UInt16(end - start | (isForSenders ? LogBatch.openTextMark : 0))
    bytes.append(UInt8(truncatingIfNeeded: size))
    bytes.append(UInt8(size >> 8))
    bytes[row + 8] |= LogBatch.textMark
    setDetailSize(bytes.count - row - LogBatch.fixedSize, of: row)
  }

  private mutating func keep(line: String) {
    guard !line.isEmpty else { return }
    bytes.append(UInt8(ascii: "\n"))
    append(line)
  }

  private mutating func append(_ text: String) {
    unsafe text.utf8.span.withUnsafeBufferPointer { unsafe bytes.append(contentsOf: $0) }
  }

  private mutating func setDetailSize(_ size: Int, of row: Int) {
    (bytes[row + 45], bytes[row + 46]) = (UInt8(truncatingIfNeeded: size), UInt8(truncatingIfNeeded: size >> 8))
  }

  /// Appends a row about a push. Nearly all rows come from here, so that no value is created that would have to be
  /// freed.
  ///
  /// - Parameter fact: the detail; nil for none.
  package mutating func append(
    _ event: DeliveryEvent, of push: StoredPush, at time: Int64, _ fact: DeliveryDetail.Fact? = nil
  ) {
    append(
      event, at: time, id: push.id, uniqueID: event == .accepted ? push.uniqueID : nil, device: push.device,
      app: push.app, code: fact?.code)
  }

  /// Appends a row about a push of which only these values are known.
  package mutating func append(
    _ event: DeliveryEvent, id: APNSID, app: AppID, device: DeviceID, at time: Int64, _ fact: DeliveryDetail.Fact?
  ) {
    append(event, at: time, id: id, uniqueID: nil, device: device, app: app, code: fact?.code)
  }

  @inline(__always)
  private mutating func append(
    _ event: DeliveryEvent, at time: Int64, id: APNSID, uniqueID: APNSID?, device: DeviceID?, app: AppID?, code: UInt8?
  ) {
    let idSize = uniqueID == nil ? 0 : APNSID.storedSize
    let size = idSize + (code == nil ? 0 : 1)
    let index = LogBatch.events.firstIndex(of: event) ?? 31
    if index < counts.count { counts[index] &+= 1 }
    var mark = UInt8(index)
    if idSize > 0 { mark |= LogBatch.uniqueIDMark }
    if code != nil { mark |= LogBatch.factsMark }
    unsafe withUnsafeTemporaryAllocation(byteCount: LogBatch.fixedSize + size, alignment: 8) { fixed in
      func store(_ value: some FixedWidthInteger, at offset: Int) {
        unsafe fixed.storeBytes(of: value.littleEndian, toByteOffset: offset, as: type(of: value))
      }
      store(time, at: 0)
      store(mark, at: 8)
      unsafe id.store(in: UnsafeMutableRawBufferPointer(rebasing: fixed[9..<29]))
      store(device?.row ?? -1, at: 29)
      store(app?.row ?? -1, at: 37)
      store(UInt16(size), at: 45)
      if let uniqueID {
        unsafe uniqueID.store(in: UnsafeMutableRawBufferPointer(rebasing: fixed[LogBatch.fixedSize...]))
      }
      if let code { store(code, at: LogBatch.fixedSize + idSize) }
      unsafe bytes.append(contentsOf: fixed)
    }
    count += 1
    first = min(first, time)
    last = max(last, time)
  }

  /// Appends a detail of more than one byte to the last row. A detail that is too long for a row becomes text, which
  /// can be truncated.
  private mutating func appendLong(_ detail: DeliveryDetail, idSize: Int) {
    let start = bytes.count
    let row = start - idSize - LogBatch.fixedSize
    let maximum = Int(UInt16.max) - idSize
    var isFacts = true
    if case .words = detail { isFacts = false } else { detail.appendJSON(to: &bytes) }
    if !isFacts || bytes.count - start > maximum {
      isFacts = false
      bytes.removeSubrange(start...)
      bytes += detail.words.utf8.prefix(maximum)
    }
    if isFacts { bytes[row + 8] |= LogBatch.factsMark }
    setDetailSize(bytes.count - start + idSize, of: row)
  }

  /// Moves the rows of another batch behind these. The other batch keeps its storage.
  package mutating func take(_ other: inout LogBatch) {
    bytes += other.bytes
    count += other.count
    first = min(first, other.first)
    last = max(last, other.last)
    other.bytes.removeAll(keepingCapacity: true)
    (other.count, other.first, other.last) = (0, .max, .min)
    for index in counts.indices {
      counts[index] &+= other.counts[index]
      other.counts[index] = 0
    }
  }

  /// Returns a batch without the rows of some devices, or without their texts; nil if it has none of them.
  package static func bytes(
    _ bytes: [UInt8], without devices: Set<DeviceID>, onlyTexts: Bool = false
  ) -> [UInt8]? {
    var kept = LogBatch()
    var start = 0
    while start + fixedSize <= bytes.count {
      let (device, size) = unsafe bytes.withUnsafeBytes {
        (
          Int64(littleEndian: unsafe $0.loadUnaligned(fromByteOffset: start + 29, as: Int64.self)),
          UInt16(littleEndian: unsafe $0.loadUnaligned(fromByteOffset: start + 45, as: UInt16.self))
        )
      }
      let end = min(start + fixedSize + Int(size), bytes.count)
      if !devices.contains(DeviceID(row: device)) {
        kept.bytes += bytes[start..<end]
      } else if onlyTexts {
        kept.takeWithoutText(bytes[start..<end])
      }
      start = end
    }
    return kept.bytes.count + (bytes.count - start) == bytes.count ? nil : kept.bytes
  }

  private mutating func takeWithoutText(_ row: ArraySlice<UInt8>) {
    let start = bytes.count
    bytes += row
    guard let (size, _) = LogBatch.text(of: row) else { return }
    bytes.removeLast(size + LogBatch.textSizeSize)
    bytes[start + 8] &= ~LogBatch.textMark
    setDetailSize(bytes.count - start - LogBatch.fixedSize, of: start)
  }

  /// Returns the size of the text of a row, and true if senders may find it; nil if the row has no text.
  private static func text(of row: ArraySlice<UInt8>) -> (size: Int, isForSenders: Bool)? {
    guard row.count >= fixedSize + textSizeSize, row[row.startIndex + 8] & textMark != 0 else { return nil }
    let value = Int(row[row.endIndex - 2]) | Int(row[row.endIndex - 1]) << 8
    let size = value & ~openTextMark
    return size <= row.count - fixedSize - textSizeSize ? (size, value != size) : nil
  }

  /// Returns the ranges into which to split the rows, so that no piece has more than `size` bytes, except a single
  /// row that has more.
  package func pieces(of size: Int) -> [Range<Int>] {
    guard bytes.count > size else { return bytes.isEmpty ? [] : [0..<bytes.count] }
    var pieces: [Range<Int>] = []
    var (start, end) = (0, 0)
    while end < bytes.count {
      let next = end + LogBatch.fixedSize + (Int(bytes[end + 45]) | Int(bytes[end + 46]) << 8)
      if next - start > size, end > start {
        pieces.append(start..<end)
        start = end
      }
      end = next
    }
    return pieces + [start..<end]
  }

  /// Returns these rows behind another one.
  func following(_ row: LogRow) -> LogBatch {
    var (rows, rest) = (LogBatch(), self)
    rows.append(row)
    rows.take(&rest)
    return rows
  }

  /// Returns the rows of a batch, in order, each with its index. It stops at the first invalid row.
  ///
  /// - Parameter matches: returns true for the rows to return. It gets rows without their details, because these take
  ///   the longest to read.
  package static func rows(
    _ bytes: [UInt8], where matches: (_ index: Int, LogRow) -> Bool = { _, _ in true }
  ) -> [(index: Int, row: LogRow, text: KeptText?)] {
    var rows: [(index: Int, row: LogRow, text: KeptText?)] = []
    unsafe bytes.withUnsafeBytes { bytes in
      var (index, start) = (0, 0)
      func integer<Integer: FixedWidthInteger>(_ offset: Int, _ type: Integer.Type) -> Integer {
        Integer(littleEndian: unsafe bytes.loadUnaligned(fromByteOffset: start + offset, as: type))
      }
      func id(at offset: Int) -> APNSID? {
        unsafe APNSID(stored: UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + APNSID.storedSize]))
      }
      while start + fixedSize <= bytes.count {
        let size = Int(integer(45, UInt16.self))
        let end = start + fixedSize + size
        guard end <= bytes.count, let rowID = id(at: start + 9) else { break }
        let mark = unsafe bytes[start + 8]
        let code = Int(mark & ~(uniqueIDMark | factsMark | textMark))
        var detail = start + fixedSize
        var uniqueID: APNSID?
        if mark & uniqueIDMark != 0 {
          guard size >= APNSID.storedSize else { break }
          uniqueID = id(at: detail)
          detail += APNSID.storedSize
        }
        let at = integer(0, Int64.self)
        // Events of a newer version and invalid times are skipped.
        if events.indices.contains(code), ColumnBounds.milliseconds.contains(at) {
          let (device, app) = (integer(29, Int64.self), integer(37, Int64.self))
          var row = LogRow(
            at: at, event: events[code], id: rowID, uniqueID: uniqueID,
            device: device == -1 ? nil : DeviceID(row: device), app: app < 0 ? nil : AppID(row: app))
          if matches(index, row) {
            let whole = unsafe Array(bytes[start..<end])
            let kept = text(of: whole[...])
            let textStart = whole.count - (kept.map { $0.size + textSizeSize } ?? 0)
            row.detail = LogBatch.detail(
              whole[min(detail - start, textStart)..<textStart], isFacts: mark & factsMark != 0, of: row.event)
            let text = kept.map {
              KeptText(
                text: String(decoding: whole[textStart..<textStart + $0.size], as: UTF8.self),
                isForSenders: $0.isForSenders)
            }
            rows.append((index, row, text))
          }
          index += 1
        }
        start = end
      }
    }
    return rows
  }

  private static func detail(_ bytes: ArraySlice<UInt8>, isFacts: Bool, of event: DeliveryEvent) -> DeliveryDetail {
    guard let first = bytes.first else { return .nothing }
    guard isFacts else {
      return DeliveryDetail(words: String(decoding: bytes, as: UTF8.self), of: event.rawValue)
    }
    if bytes.count == 1 { return DeliveryDetail(code: first) ?? .nothing }
    return (try? decodeJSON(DeliveryDetail.self, from: Array(bytes))) ?? .nothing
  }
}

/// The title and texts of a push, one per line, as a row of the delivery log keeps them.
package struct KeptText: Sendable, Equatable {
  package var text: String
  /// True if the user let senders find texts when the row was written.
  package var isForSenders: Bool
}

/// The texts of the delivery log about a device that a reader may find.
package enum TextAccess: Sendable {
  case none
  /// The texts of rows that were written while the user let senders find texts.
  case forSenders
  case all

  func text(of kept: KeptText?) -> String? {
    switch self {
    case .none: nil
    case .forSenders: kept.flatMap { $0.isForSenders ? $0.text : nil }
    case .all: kept?.text
    }
  }
}
