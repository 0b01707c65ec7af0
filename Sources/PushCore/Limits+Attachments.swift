/// The limits of attachments of messages, and of the forms that contain them.
extension Limits {
  /// The maximum size in bytes of an attachment, and the time in seconds for which the gateway keeps it.
  package static let maximumAttachmentSize = 1 << 20
  package static let attachmentLifetime: Int64 = 86_400
  /// The maximum size in bytes of a request with an attachment, which also has the fields of the message and the
  /// encoding of the form.
  package static let maximumAttachmentRequest = maximumAttachmentSize + (16 << 10)
  /// The maximum number of parts of a form, and the size in bytes of the head of one: the name of a file and its type.
  package static let maximumFormParts = 32
  package static let maximumPartHead = 4 << 10
  /// The maximum size in bytes of the name of an attachment.
  package static let maximumAttachmentName = 128
  /// The maximum sizes in bytes of all attachments of a sender, and of all attachments of the gateway. Each counts
  /// ``attachmentOverhead`` in addition, so that the number of attachments is limited, too.
  package static let maximumSenderAttachments = 64 << 20
  package static let maximumAttachments = 512 << 20
  package static let attachmentOverhead = 4 << 10
  /// The maximum number of attachments that the gateway writes at the same time, and that it reads: each is in memory.
  package static let maximumAttachmentWrites = 32
  package static let maximumAttachmentReads = 32
  /// The number of attachments that one transaction deletes, while commits wait.
  package static let attachmentSlice = 16
}
