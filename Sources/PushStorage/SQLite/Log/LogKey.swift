import PushCore

/// The keys by which rows of the delivery log are found, as 64 bits.
enum LogKey {
  /// Returns the key of an `apns-id` or an `apns-unique-id`.
  static func id(_ id: APNSID) -> UInt64 {
    unsafe withUnsafeTemporaryAllocation(byteCount: APNSID.storedSize, alignment: 8) { bytes in
      unsafe id.store(in: bytes)
      return unsafe LogKey.id(stored: UnsafeRawBufferPointer(bytes), at: 0)
    }
  }

  /// Returns the key of a stored id. It does not depend on the case of the id's letters.
  @inline(__always)
  static func id(stored bytes: UnsafeRawBufferPointer, at offset: Int) -> UInt64 {
    let high = unsafe bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
    let low = unsafe bytes.loadUnaligned(fromByteOffset: offset + 8, as: UInt64.self)
    return mix(high &* 0x9E37_79B9_7F4A_7C15 &+ low)
  }

  @inline(__always)
  static func device(_ row: Int64) -> UInt64 { mix(UInt64(bitPattern: row) ^ 0xD1B5_4A32_D192_ED03) }

  @inline(__always)
  static func app(_ row: Int64) -> UInt64 { mix(UInt64(bitPattern: row) ^ 0x8CB9_2BA7_2F3D_8DD7) }

  /// Mixes the bits so that each bit of the result depends on each bit of `value`: users number their devices, and
  /// senders number their ids.
  @inline(__always)
  private static func mix(_ value: UInt64) -> UInt64 {
    var value = value ^ value >> 32
    value = value &* 0xD6E8_FEB8_6659_FD93
    value ^= value >> 32
    value = value &* 0xD6E8_FEB8_6659_FD93
    return value ^ value >> 32
  }
}

/// The positions of the search keys in the rows of a batch (``LogBatch`` describes the whole format).
enum LogLayout {
  /// The number of bytes of a row without its detail.
  static let fixedSize = 47
  /// The bit of the event's code that is set if the detail begins with the unique id.
  static let uniqueIDMark: UInt8 = 0x80

  /// Calls `body` with all keys of the rows of a batch; with some of them repeatedly.
  @inline(__always)
  static func forEachKey(of bytes: UnsafeRawBufferPointer, _ body: (UInt64) -> Void) {
    // Consecutive rows usually belong to one app, and often to one device.
    var (device, app) = (Int64(-1), Int64(-1))
    var start = 0
    while start + fixedSize <= bytes.count {
      body(unsafe LogKey.id(stored: bytes, at: start + 9))
      let (rowDevice, rowApp) = unsafe (
        Int64(littleEndian: bytes.loadUnaligned(fromByteOffset: start + 29, as: Int64.self)),
        Int64(littleEndian: bytes.loadUnaligned(fromByteOffset: start + 37, as: Int64.self))
      )
      if rowDevice != device {
        device = rowDevice
        body(LogKey.device(device))
      }
      if rowApp != app {
        app = rowApp
        body(LogKey.app(app))
      }
      let size = unsafe UInt16(littleEndian: bytes.loadUnaligned(fromByteOffset: start + 45, as: UInt16.self))
      let detail = start + fixedSize
      start = detail + Int(size)
      if unsafe bytes[detail - fixedSize + 8] & uniqueIDMark != 0, Int(size) >= APNSID.storedSize, start <= bytes.count
      {
        body(unsafe LogKey.id(stored: bytes, at: detail))
      }
    }
  }

  /// Calls `body` with the ids of the rows of a batch, in order.
  static func forEachID(of bytes: [UInt8], _ body: (APNSID) -> Void) {
    unsafe bytes.withUnsafeBytes { bytes in
      var start = 0
      while start + fixedSize <= bytes.count {
        let id = unsafe UnsafeRawBufferPointer(rebasing: bytes[start + 9..<start + 9 + APNSID.storedSize])
        if let id = unsafe APNSID(stored: id) { body(id) }
        let size = unsafe UInt16(littleEndian: bytes.loadUnaligned(fromByteOffset: start + 45, as: UInt16.self))
        start += fixedSize + Int(size)
      }
    }
  }
}
