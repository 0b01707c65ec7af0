import PushCore

/// Announces pushes with actions, which this gateway sends, to the other gateways of a cluster, and records their
/// announcements.
struct SentPushMessages: Sendable {
  private struct Message: Codable {
    var device: Int64
    var app: Int64
    /// The text form, as in requests of senders.
    var id: String
    var category: String
    /// Milliseconds since 1970.
    var at: Int64
  }

  private static let name = "sent"

  let cluster: any Cluster

  /// - Parameter at: milliseconds since 1970.
  func publish(_ push: APNSID, of app: AppID, category: String, to device: DeviceID, at: Int64) {
    cluster.publish(
      SentPushMessages.name,
      controlJSON(Message(device: device.row, app: app.row, id: push.description, category: category, at: at)))
  }

  /// Registers the handler that records the announcements of other gateways.
  func join(_ remote: RemotePushes) throws {
    try cluster.subscribe(SentPushMessages.name) {
      guard let message = try? decodeJSON(Message.self, from: $0), let id = APNSID(message.id),
        message.category.utf8.count <= Limits.maximumCategorySize
      else { return }
      remote.note(
        SentPush(id: id, sent: ShortTime(message.at), app: AppID(row: message.app), category: message.category),
        to: DeviceID(row: message.device))
    }
  }
}
