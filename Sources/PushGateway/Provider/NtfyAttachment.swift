import Foundation
import PushCore

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
