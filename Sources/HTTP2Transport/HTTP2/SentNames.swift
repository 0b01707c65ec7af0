import CNGHTTP2

/// The names of fields that were sent on a session, one bit each.
struct SentNames {
  private var bits: UInt32 = 0

  /// Passes the fields to `body` in nghttp2's format, without allocating.
  mutating func withNameValues(
    _ fields: HeaderFields, _ body: (UnsafePointer<nghttp2_nv>?, Int) -> Int32
  ) -> Int32 {
    unsafe fields.bytes.withUnsafeBufferPointer { bytes in
      unsafe withUnsafeTemporaryAllocation(of: nghttp2_nv.self, capacity: fields.fields.count) { list in
        let base = unsafe UnsafeMutablePointer(mutating: bytes.baseAddress)
        for (index, field) in fields.fields.enumerated() {
          // The first value adds the name to the peer's table; after that the name costs one byte (RFC 7541 §6.2.2).
          let isUnindexed = field.isUnindexed && bits & field.bit != 0
          bits |= field.bit
          let flags = isUnindexed ? NGHTTP2_NV_FLAG_NO_INDEX : NGHTTP2_NV_FLAG_NONE
          unsafe list.initializeElement(
            at: index,
            to: nghttp2_nv(
              name: base.map { unsafe $0 + field.name.lowerBound },
              value: base.map { unsafe $0 + field.value.lowerBound },
              namelen: field.name.count, valuelen: field.value.count, flags: UInt8(flags.rawValue)))
        }
        return unsafe body(UnsafePointer(list.baseAddress), fields.fields.count)
      }
    }
  }
}
