import PushCore
import PushPolicy
import Synchronization

/// The use of the apps' alerts in the rows that this gateway has logged, by app and day, until ``AppDays`` stores it.
final class AppUse: Sendable {
  struct Key: Hashable, Sendable {
    var app: AppID
    /// Days since 1970, UTC.
    var day: Int64
  }

  private let counts = Mutex<[Key: Standing]>([:])

  private static let millisecondsInDay: Int64 = 86_400_000
  /// The bits of the byte of an event that are its code (``LogBatch``).
  private static let codeMask: UInt8 = 0x1F
  private static let alertPart: StaticString = #""alert""#

  /// The events that are use of an alert, with their codes.
  private static let events: [(code: Int, event: DeliveryEvent)] =
    [DeliveryEvent.presented, .viewed, .closed, .unsubscribed].compactMap { event in
      LogBatch.events.firstIndex(of: event).map { (code: $0, event: event) }
    }

  /// Counts the rows of a batch that are use of an alert. A batch without such rows costs one comparison for each event.
  func note(_ batch: LogBatch) {
    guard AppUse.events.contains(where: { batch.counts[$0.code] > 0 }) else { return }
    add(unsafe batch.bytes.withUnsafeBytes { bytes in unsafe AppUse.use(in: bytes) })
  }

  /// Returns the use of alerts in rows. Neighboring rows often have the same key, which is looked up once for all of them.
  private static func use(in bytes: UnsafeRawBufferPointer) -> [Key: Standing] {
    var found: [Key: Standing] = [:]
    var key: Key?
    var use = Standing()
    var start = 0
    while start + LogLayout.fixedSize <= bytes.count {
      let detail = start + LogLayout.fixedSize
      let size = Int(unsafe bytes.loadUnaligned(fromByteOffset: start + 45, as: UInt16.self))
      let end = min(detail + size, bytes.count)
      defer { start = end }
      let code = Int(unsafe bytes[start + 8] & codeMask)
      guard let event = events.first(where: { $0.code == code })?.event else { continue }
      let at = unsafe bytes.loadUnaligned(fromByteOffset: start, as: Int64.self)
      let app = unsafe bytes.loadUnaligned(fromByteOffset: start + 37, as: Int64.self)
      // A summary comes from the gateway.
      guard app != App.summary.id.row, ColumnBounds.app.contains(app), at >= 0 else { continue }
      if event == .presented, unsafe !isAlert(UnsafeRawBufferPointer(rebasing: bytes[detail..<end])) { continue }
      let next = Key(app: AppID(row: app), day: at / millisecondsInDay)
      if let former = key, former != next {
        found[former, default: Standing()].addUse(use)
        use = Standing()
      }
      key = next
      count(event, in: &use)
    }
    if let key { found[key, default: Standing()].addUse(use) }
    return found
  }

  /// Returns true if the detail of `presented` lists an alert.
  private static func isAlert(_ detail: UnsafeRawBufferPointer) -> Bool {
    let size = alertPart.utf8CodeUnitCount
    return stride(from: 0, through: detail.count - size, by: 1).contains { start in
      unsafe UnsafeRawBufferPointer(rebasing: detail[start..<start + size]).equals(alertPart)
    }
  }

  /// Returns the counts and begins again.
  func take() -> [Key: Standing] {
    counts.withLock { counts in
      defer { counts = [:] }
      return counts
    }
  }

  /// Adds counts, for example after a failure to store them.
  func add(_ more: [Key: Standing]) {
    counts.withLock { counts in
      for (key, use) in more { counts[key, default: Standing()].addUse(use) }
    }
  }

  private static func count(_ event: DeliveryEvent, in standing: inout Standing) {
    switch event {
    case .presented: standing.presented += 1
    case .viewed: standing.viewed += 1
    case .closed: standing.closed += 1
    case .unsubscribed: standing.unsubscribed += 1
    default: break
    }
  }
}
