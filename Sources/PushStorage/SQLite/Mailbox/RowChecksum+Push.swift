import PushCore

extension RowChecksum {
  /// Returns the checksum of a push in a row. It does not include the sequence number, which may be assigned again later.
  ///
  /// - Parameter ids: the bytes of both ids as the row contains them, one after the other.
  static func value(
    of push: StoredPush, in row: Int64, ids: UnsafeRawBufferPointer, _ payload: UnsafeRawBufferPointer
  ) -> Int64 {
    var sum = RowChecksum()
    sum.add(row)
    sum.add(push.device.row)
    sum.add(push.app.row)
    unsafe sum.add(ids)
    sum.add(push.isSenderID ? 1 : 0)
    sum.add(push.received)
    sum.add(push.expires)
    sum.add(Int64(push.priority))
    var collapseID = push.collapseID
    if !collapseID.isEmpty { collapseID.withUTF8 { unsafe sum.add(UnsafeRawBufferPointer($0)) } }
    unsafe sum.add(payload)
    return sum.value
  }
}
