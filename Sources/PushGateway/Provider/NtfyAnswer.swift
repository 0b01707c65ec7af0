import Foundation
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

/// The description of a message's file in an answer of ntfy.
struct NtfyAttachment: Sendable, Equatable, Encodable {
  var name: String
  /// The address of the file. A file that the gateway has is at a path of the device API, because only the devices of the
  /// recipients read it.
  var url: String
  /// The media type, the size in bytes, and the end in seconds since 1970; nil for a file that the gateway does not have.
  var type: String?
  var size: Int?
  var expires: Int64?

  init(_ file: AttachmentReference, expires: Int64) {
    (name, url) = (file.name, AttachmentReference.path + file.id)
    (type, size, self.expires) = (file.type.rawValue, file.size, expires)
  }

  /// Describes a file at an address. Without a name it has the last part of its path.
  init(at address: String, name: String?) {
    let parts = address.prefix { $0 != "?" && $0 != "#" }.split(separator: "/", omittingEmptySubsequences: false)
    // The scheme and the host are the first three parts.
    let last = parts.count > 3 ? String(parts[parts.count - 1]) : ""
    self.name = AttachmentName.sanitized(name ?? last.removingPercentEncoding ?? last)
    url = address
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
