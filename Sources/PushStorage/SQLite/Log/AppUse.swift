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
  private static let alertPart = Array(#""alert""#.utf8)

  /// The events that are use of an alert, with their codes.
  private static let events: [(code: Int, event: DeliveryEvent)] =
    [DeliveryEvent.presented, .viewed, .closed, .unsubscribed].compactMap { event in
      LogBatch.events.firstIndex(of: event).map { (code: $0, event: event) }
    }

  /// Counts the rows of a batch. A batch without such rows costs a comparison for each kind.
  func note(_ batch: LogBatch) {
    guard AppUse.events.contains(where: { batch.counts[$0.code] > 0 }) else { return }
    let bytes = batch.bytes
    var found: [Key: Standing] = [:]
    var start = 0
    while start + LogLayout.fixedSize <= bytes.count {
      let detail = start + LogLayout.fixedSize
      let end = min(detail + (Int(bytes[start + 45]) | Int(bytes[start + 46]) << 8), bytes.count)
      let code = Int(bytes[start + 8] & AppUse.codeMask)
      if let event = AppUse.events.first(where: { $0.code == code })?.event {
        let (at, app) = (AppUse.number(bytes, at: start), AppUse.number(bytes, at: start + 37))
        let isAlert = event != .presented || bytes[detail..<end].firstRange(of: AppUse.alertPart) != nil
        // A summary comes from the gateway.
        if isAlert, app != App.summary.id.row, ColumnBounds.app.contains(app), at >= 0 {
          let key = Key(app: AppID(row: app), day: at / AppUse.millisecondsInDay)
          AppUse.count(event, in: &found[key, default: Standing()])
        }
      }
      start = end
    }
    add(found)
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

  /// Returns a little-endian number of 8 bytes.
  private static func number(_ bytes: [UInt8], at offset: Int) -> Int64 {
    (0..<8).reduce(0) { $0 | Int64(bytes[offset + $1]) << Int64(8 * $1) }
  }
}
