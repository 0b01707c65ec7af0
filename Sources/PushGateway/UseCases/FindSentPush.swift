import PushCore
import PushPolicy
import PushStorage

/// Finds a push that a device was sent, or that waits for it: a device is believed of these alone.
///
/// What is not remembered is in the delivery log, for as long as that is kept; what waits is in the mailbox also where
/// the log has lost its last moments. So an alert can be answered that was shown before the gateway was started again.
struct FindSentPush: Sendable {
  let histories: DeviceHistories
  let mailbox: any Mailbox
  let channels: Channels
  let log: DeliveryLog

  /// - Returns: nil when the device was never sent it, or too long ago.
  func callAsFunction(_ id: APNSID, by device: DeviceID) async throws -> SentPush? {
    if let push = histories.push(id, of: device) { return push }
    let query = DeliveryLog.Query(
      id: id, device: device, events: [.transmitted], limit: 1, maximumReadSize: Limits.deviceLogSearchSize)
    if let row = try await log.rows(query).first?.row, let app = row.app {
      var category: String?
      if case .asked(let asked) = row.detail { category = asked.category }
      return SentPush(id: id, sent: ShortTime(row.at), app: app, category: category)
    }
    return try await waiting(id, for: device) ?? broadcast(id, to: device)
  }

  private func waiting(_ id: APNSID, for device: DeviceID) async throws -> SentPush? {
    var seq: UInt64 = 0
    while true {
      let pending = try await mailbox.pending(for: device, after: seq, limit: Limits.pendingBatch)
      if let found = pending.entries.first(where: { $0.push.id == id }) {
        return SentPush(found.push, parser: JSONParser(maximumDepth: Limits.maximumStoredDepth))
      }
      guard !pending.isComplete, let last = pending.entries.last?.seq, last > seq else { return nil }
      seq = last
    }
  }

  /// The stored message of a channel that the device subscribes to.
  private func broadcast(_ id: APNSID, to device: DeviceID) -> SentPush? {
    for (channel, _) in channels.subscriptions(of: device) {
      guard let message = channels.channel(channel)?.message, message.id == id else { continue }
      return SentPush(message, parser: JSONParser())
    }
    return nil
  }
}
