import PushCore

/// The file of a message, before it is stored.
struct SentAttachment: Sendable, Equatable {
  var reference: AttachmentReference
  var content: [UInt8]

  /// - Parameters:
  ///   - name: the name of the file, as it was sent.
  ///   - contentType: the value of `content-type`; nil without one.
  /// - Throws: 413 if the file is too large.
  init(
    name: String, contentType: String?, content: some Collection<UInt8>, id: String = AttachmentReference.randomID()
  ) throws(MessageRefusal) {
    guard content.count <= Limits.maximumAttachmentSize else { throw SentAttachment.tooLarge }
    let name = AttachmentName.sanitized(name)
    reference = AttachmentReference(
      id: id, name: name, type: AttachmentType(contentType: contentType, name: name), size: content.count)
    self.content = Array(content)
  }

  /// The text of a message that has only a file.
  var text: String { "You received a file: \(reference.name)" }

  static let tooLarge = MessageRefusal(
    413, "AttachmentTooLarge", "the attachment is too large: expected at most 1 MiB, send a link to a larger file")

  /// The refusal of each attachment by a gateway of a cluster.
  static let unavailable = MessageRefusal(
    400, "NoAttachments", "a gateway of a cluster stores no attachments: send the text, with a link to the file")
}
