import PushCore
import PushStorage

/// A push as a message in a stream: all fields except the payload are headers.
enum PushHeaders {
  /// The time in seconds that the stream keeps a message after its push has expired, so that a gateway can report
  /// the expiration.
  static let spareTime: Int64 = 3600

  static func write(_ push: StoredPush, now: Int64) -> [(name: String, value: String)] {
    var headers = [
      (name: "Nats-Msg-Id", value: "\(push.device.row).\(push.app.row).\(push.id)"),
      ("Nats-TTL", "\(max(1, push.expires - now) + spareTime)s"),
      ("App", "\(push.app.row)"), ("Id", push.id.description), ("Unique-Id", push.uniqueID.description),
      ("Received", "\(push.received)"), ("Expires", "\(push.expires)"), ("Priority", "\(push.priority)"),
    ]
    if push.isSenderID { headers.append(("Sender-Id", "1")) }
    // The collapse id is any text, which a header can't contain unencoded.
    if !push.collapseID.isEmpty { headers.append(("Collapse-Id", Base64URL.encode(Array(push.collapseID.utf8)))) }
    return headers
  }

  /// Reads a push.
  ///
  /// - Returns: nil when the message is not a push, or a number is beyond its ``ColumnBounds``.
  static func read(
    _ headers: [(name: String, value: String)], _ payload: [UInt8], of device: DeviceID
  ) -> StoredPush? {
    func text(_ name: String) -> String? { headers.first { $0.name == name }?.value }
    guard let app = number(text("App"), in: ColumnBounds.app), let id = text("Id").flatMap({ APNSID($0) }),
      let unique = text("Unique-Id").flatMap({ APNSID($0) }),
      let received = number(text("Received"), in: ColumnBounds.milliseconds),
      let expires = number(text("Expires"), in: ColumnBounds.seconds),
      let priority = text("Priority").flatMap({ UInt8($0) })
    else { return nil }
    let collapse = text("Collapse-Id").map { Base64URL.decode($0.utf8) } ?? []
    guard let collapse else { return nil }
    return StoredPush(
      device: device, app: AppID(row: app), id: id, isSenderID: text("Sender-Id") == "1", uniqueID: unique,
      received: received, expires: expires, priority: priority, collapseID: String(decoding: collapse, as: UTF8.self),
      payload: payload)
  }

  /// Reads the number of a header; nil when it is not a number, or out of range.
  static func number(_ text: String?, in range: ClosedRange<Int64>) -> Int64? {
    text.flatMap { Int64($0) }.flatMap { range.contains($0) ? $0 : nil }
  }
}
