import PushCore
import PushPolicy
import PushStorage

/// Operations on accepted pushes: their lookup, the answers and reports of users, and retractions.
struct Pushes: Sendable {
  let registrations: any Registrations
  let mailbox: any Mailbox
  let held: DeferredPushes
  let schedule: Schedule
  let retractions: Retractions
  let groups: Groups
  let answers: Answers
  let channels: Channels
  let histories: DeviceHistories
  let remotePushes: RemotePushes
  let log: DeliveryLog
  let router: any PushRouter
  let clock: WallClock
  /// The connection to the other gateways, which may have accepted or sent a push.
  var cluster: (any Cluster)?

  /// Finds a push that a device was sent, or that is pending for it: reports and answers are accepted only for these
  /// pushes.
  ///
  /// Pushes that are no longer in memory are found in the delivery log within its retention period. Pending pushes are
  /// found in the mailbox, even if the log has lost its last rows. So an alert that was shown before a restart of the
  /// gateway can be answered.
  ///
  /// - Returns: nil if the device was never sent the push, or too long ago.
  /// - Throws: ``StoreError`` if that can't be determined now: the log can't be read, or a gateway that may have sent
  ///   it does not answer.
  func find(_ id: APNSID, sentTo device: DeviceID) async throws -> SentPush? {
    if let push = histories.push(id, of: device) ?? remotePushes.push(id, of: device) { return push }
    let query = DeliveryLog.Query(
      id: id, device: device, events: [.transmitted], limit: 1, maximumReadSize: Limits.deviceLogSearchSize)
    if let record = try await log.rows(query).first, let push = SentPush(record) { return push }
    if let push = try await pending(id, for: device) ?? broadcast(id, to: device) { return push }
    guard let cluster else { return nil }
    let others = MergedLog(log: log, cluster: cluster, reader: device)
    let (records, unanswered) = await others.others(query, within: MergedLog.shortTimeout)
    if let push = records.first(where: isAsked).flatMap(SentPush.init) { return push }
    guard unanswered.isEmpty, !cluster.isNew else {
      throw StoreError("gateways that may have sent the push do not answer: try again", mayPass: true)
    }
    return nil

    /// Returns true if a record of another gateway matches the query: other records are ignored.
    func isAsked(_ record: DeliveryLog.Record) -> Bool {
      record.row.id == id && record.row.device == device && record.row.event == .transmitted
    }
  }

  private func pending(_ id: APNSID, for device: DeviceID) async throws -> SentPush? {
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

  /// Returns the stored message of a channel that the device subscribes to.
  private func broadcast(_ id: APNSID, to device: DeviceID) -> SentPush? {
    for (channel, _) in channels.subscriptions(of: device) {
      guard let message = channels.channel(channel)?.message, message.id == id else { continue }
      return SentPush(message, parser: JSONParser())
    }
    return nil
  }
}

extension SentPush {
  /// Creates the record of a push from the row of its transmission; nil if its app was removed.
  fileprivate init?(_ record: DeliveryLog.Record) {
    let row = record.row
    guard let app = row.app else { return nil }
    var category: String?
    if case .asked(let asked) = row.detail { category = asked.category }
    self.init(id: row.id, sent: ShortTime(row.at), app: app, category: category)
  }
}
