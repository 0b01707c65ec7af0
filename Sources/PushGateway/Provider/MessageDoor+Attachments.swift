import PushCore
import PushStorage

/// Requests with a file: the body may be larger than the body of a usual message.
extension MessageDoor {
  /// Returns true if the body of a request has a file, or is one.
  func hasAttachment(_ request: ControlRequest) -> Bool {
    switch self {
    case .own: SentMessage.mediaType(request.fields["content-type"]) == SentMessage.formWithFiles
    case .ntfy: name(of: request) != nil && NtfyMessage.fileName(request) != nil
    case .heartbeat, .gotify, .hook, .webPush: false
    }
  }

  /// Returns the maximum size of a request's body in bytes, by its head. Only a sender with a valid token may send a file.
  ///
  /// - Parameter now: seconds since 1970.
  func maximumBodySize(of request: ControlRequest, _ senders: MessageSenders, now: Int64) -> Int {
    guard hasAttachment(request), let credential = credential(of: request), case .token(let token) = credential,
      let sender = senders.find(name(of: request), token: token, now: now), admits(sender, credential)
    else { return maximumBodySize }
    return Limits.maximumAttachmentRequest
  }
}
