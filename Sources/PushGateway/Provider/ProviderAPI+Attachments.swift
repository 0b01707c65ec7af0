import HTTP2Transport
import PushCore
import PushStorage

/// The attachments of messages: each is on disk before the pushes that refer to it.
extension ProviderAPI {
  /// Sets the maximum size of a message's body. A client without a valid token of a sender gets the usual one, so that it
  /// can't occupy the memory of attachments.
  func limitBody(of exchange: Exchange, _ door: MessageDoor) {
    let message = exchange.request
    message.maximumBodySize = door.maximumBodySize
    let mayHaveFile =
      door == .ntfy || door == .own && SentMessage.mediaType(message.text(.contentType)) == SentMessage.formWithFiles
    guard mayHaveFile else { return }
    let request = ControlRequest(messageOf: exchange)
    let size = door.maximumBodySize(of: request, parts.messages.senders, now: parts.clock.seconds)
    guard size > door.maximumBodySize else { return }
    message.maximumBodySize = size
    exchange.connection.authenticated(as: .provider)
  }

  /// Stores the attachment of a message, and then the pushes.
  ///
  /// - Parameters:
  ///   - recipients: the recipients of the pushes, which may read it.
  ///   - store: stores the pushes.
  func keep(
    _ attachment: SentAttachment, of sender: MessageSender, for recipients: [MessageSender.Recipient],
    _ exchange: MessageExchange, at time: Int64, store: @escaping (ProviderAPI, MessageExchange) -> Void
  ) {
    let attachments = parts.attachments
    let stored = StoredAttachment(
      attachment.reference, sender: sender.name, app: sender.app, recipients: recipients,
      expires: time + Limits.attachmentLifetime)
    leaveLoop(exchange) {
      try await attachments.put(stored, content: attachment.content)
    } finish: { api, exchange, outcome in
      guard let refusal = MessageRefusal(outcome) else { return store(api, exchange) }
      api.shared.meter.reached(.attachments)
      exchange.respond(exchange.door.response(to: refusal))
    }
  }

  /// Removes the attachment of a message of which no push was stored. If this fails, the attachment expires.
  func release(_ attachment: SentAttachment) {
    Task { [attachments = parts.attachments] in try? await attachments.remove(attachment.reference.id) }
  }
}

extension MessageRefusal {
  /// The refusal of an attachment that was not stored; nil for a stored one.
  fileprivate init?(_ outcome: Attachments.Outcome) {
    switch outcome {
    case .stored: return nil
    case .senderIsFull:
      self.init(
        413, "AttachmentsFull",
        "the attachments of this sender have \(Limits.maximumSenderAttachments >> 20) MiB, which is the maximum: wait until "
          + "some are a day old, or send a link to the file")
    case .gatewayIsFull:
      self.init(
        507, "AttachmentsFull",
        "the attachments of this gateway have \(Limits.maximumAttachments >> 20) MiB, which is the maximum: wait until some "
          + "are a day old, or send a link to the file")
    case .busy:
      self.init(
        503, "ServiceUnavailable", "the gateway stores too many attachments at this moment: send the message again",
        retryAfter: 1)
    }
  }
}
