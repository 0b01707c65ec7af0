import PushCore

/// The answer of ntfy to an accepted message.
struct NtfyAnswer: Sendable, Encodable {
  var id: String
  /// The time of delivery and the end of the message, in seconds since 1970.
  var time: Int64
  var expires: Int64
  var event = "message"
  var topic: String
  var title: String?
  var message: String
  var priority: Int?
  var tags: [String]?
  var click: String?
  var attachment: NtfyAttachment?

  /// - Parameter now: seconds since 1970.
  init(_ message: NtfyMessage, id: String, now: Int64) {
    self.id = id
    time = message.sent.deliverAt ?? now
    expires = time + Int64(Limits.maximumLifetime)
    (topic, title, self.message) = (message.topic, message.title, message.message)
    (priority, click, attachment) = (message.priority, message.click, message.attachment)
    tags = message.tags.isEmpty ? nil : message.tags
  }
}

/// The answer of ntfy to a refused message.
struct NtfyError: Sendable, Encodable {
  /// The number of the error in ntfy: the status and two digits.
  var code: Int
  var http: Int
  var error: String
  /// The page of ntfy about the parameter.
  var link: String?

  init(_ refusal: MessageRefusal) {
    (http, error) = (refusal.status, refusal.message)
    let (code, anchor) = NtfyError.row(refusal)
    self.code = code
    link = anchor.map { "https://docs.ntfy.sh/publish/#\($0)" }
  }

  private static func row(_ refusal: MessageRefusal) -> (code: Int, anchor: String?) {
    switch (refusal.status, refusal.reason) {
    case (400, "NoEmail"): (40_001, nil)
    case (400, "BadDelay"): (40_004, "scheduled-delivery")
    case (400, "BadPriority"): (40_007, "message-priority")
    case (400, "BadTopic"): (40_009, nil)
    case (400, "NotUTF8"): (40_011, nil)
    case (400, "NoAttachments"): (40_014, nil)
    case (400, "BadJSON"): (40_017, "publish-as-json")
    case (400, "BadActions"): (40_018, "action-buttons")
    case (400, "NoCalls"): (40_032, nil)
    case (400, _): (40_000, nil)
    case (401, _): (40_101, "authentication")
    default: (refusal.status * 100 + 1, nil)
    }
  }
}
