/// The pending bytes of a stream, as the pieces in which they were written.
struct OutboundBytes {
  /// The piece that is being sent, from the offset `sent`.
  private var piece: [UInt8] = []
  private var sent = 0
  /// The pieces that follow, from the index `next`; the entries before it are empty.
  private var later: [[UInt8]] = []
  private var next = 0
  /// The number of bytes in `later`.
  private var laterSize = 0

  /// The number of pending bytes.
  var count: Int { piece.count - sent + laterSize }

  mutating func append(copying bytes: some Collection<UInt8>) {
    guard !later.isEmpty else { return piece.append(contentsOf: bytes) }
    let last = later.count - 1
    laterSize -= later[last].count
    later[last].append(contentsOf: bytes)
    laterSize += later[last].count
  }

  /// Appends the bytes, without copying them.
  mutating func append(_ bytes: consuming [UInt8]) {
    if bytes.isEmpty { return }
    if count == 0 {
      (piece, sent) = (bytes, 0)
    } else {
      laterSize += bytes.count
      later.append(bytes)
    }
  }

  /// Moves as many bytes as fit from the front to `target`, and returns their number.
  mutating func move(to target: UnsafeMutableRawBufferPointer, keepingCapacity: Bool) -> Int {
    var moved = 0
    while moved < target.count, count > 0 {
      let size = min(target.count - moved, piece.count - sent)
      unsafe piece.withUnsafeBytes { piece in
        unsafe UnsafeMutableRawBufferPointer(rebasing: target[moved...]).copyMemory(
          from: .init(rebasing: piece[sent..<sent + size]))
      }
      moved += size
      sent += size
      if sent == piece.count { takeNext(keepingCapacity: keepingCapacity) }
    }
    if sent > 65536, sent > piece.count / 2 {
      piece.removeFirst(sent)
      sent = 0
    }
    return moved
  }

  mutating func removeAll(keepingCapacity: Bool) {
    piece.removeAll(keepingCapacity: keepingCapacity && piece.capacity <= 4096)
    sent = 0
    (later, next, laterSize) = ([], 0, 0)
  }

  private mutating func takeNext(keepingCapacity: Bool) {
    guard next < later.count else { return removeAll(keepingCapacity: keepingCapacity) }
    (piece, sent) = ([], 0)
    swap(&piece, &later[next])
    laterSize -= piece.count
    next += 1
    if next == later.count { (later, next) = ([], 0) }
  }
}
