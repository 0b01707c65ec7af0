import GatewayProtocol
import PushCore
import PushPolicy
import PushStorage

/// The content of a message to the worker of a closed page: a line of the device protocol, with the members of the payload
/// that the worker shows. It is encrypted for the browser: the push service can read only its size and its time.
///
/// The content of an encrypted Web Push message follows after a line end. It has no base64, which would need a third more
/// space.
enum PageMessage {
  /// Writes a push as it is presented.
  ///
  /// - Parameters:
  ///   - allowsBadge: true if the user allows the badge that an encrypted message can have.
  ///   - size: the maximum size in bytes. Texts that are too long are cut at a character, and end with `…`. An encrypted
  ///     message or an attachment that is too large is left out.
  /// - Returns: nil if the push without its texts and actions is still too large.
  static func push(
    _ push: StoredPush, of app: App, _ presentation: Presentation, allowsBadge: Bool, maximumSize size: Int
  ) -> [UInt8]? {
    let shown = Presentation(badge: presentation.badge, sound: presentation.sound, alert: presentation.alert)
    let start = start(push, of: app)
    if let envelope = envelope(of: push) {
      var whole = line(start, shown, members(of: envelope, allowsBadge: allowsBadge))
      whole += "\n".utf8
      whole += envelope.content
      if whole.count <= size { return whole }
    }
    if let attachment = AttachmentReference(payload: push.payload),
      let message = message(start, shown, members(of: attachment), size)
    {
      return message
    }
    return message(start, shown, [], size)
  }

  /// Returns the encrypted Web Push message that a push is; nil for any other push.
  private static func envelope(of push: StoredPush) -> WebPushEnvelope? {
    let payload = push.payload
    let read = try? JSONParser().parse(payload.span) { root -> WebPushEnvelope? in WebPushEnvelope(root) }
    return read ?? nil
  }

  /// Writes a line, and cuts its texts to the space beside the other members.
  ///
  /// - Parameter members: the members after the presentation.
  private static func message(
    _ start: [UInt8], _ presentation: Presentation, _ members: [UInt8], _ size: Int
  ) -> [UInt8]? {
    var shown = presentation
    let whole = line(start, shown, members)
    if whole.count <= size { return whole }
    guard let texts = presentation.alert else { return nil }
    shown.alert = AlertPresentation(buttons: texts.buttons)
    shown.alert?.actions = texts.actions
    var space = size - line(start, shown, members).count
    // A title is more useful than the buttons.
    if space < minimumText, texts.actions != nil {
      shown.alert = AlertPresentation()
      space = size - line(start, shown, members).count
    }
    guard space >= 0 else { return nil }
    func take(_ text: String, _ part: Int) -> String {
      let text = cut(text, to: part)
      space -= jsonSize(text[...])
      return text
    }
    // A long text leaves half of the space to the following ones.
    shown.alert?.title = take(texts.title, space / 2)
    shown.alert?.subtitle = take(texts.subtitle, space / 2)
    shown.alert?.body = take(texts.body, space)
    return line(start, shown, members)
  }

  /// Writes the retraction of a push.
  static func retraction(_ id: APNSID) -> [UInt8] { Array(#"{"type":"retract","id":"\#(id)"}"#.utf8) }

  private static let minimumText = 200
  private static let mark = "…"

  /// Returns the members before the presentation.
  private static func start(_ push: StoredPush, of app: App) -> [UInt8] {
    var line = Array(#"{"type":"push","id":"\#(push.id)","#.utf8)
    line += app.lineMembers
    line += #","received":"\#(Timestamp.text(push.received))""#.utf8
    if !push.collapseID.isEmpty {
      line += #","collapse":"#.utf8
      appendJSONString(push.collapseID, to: &line)
    }
    return line + #","presentation":"#.utf8
  }

  private static func line(_ start: [UInt8], _ presentation: Presentation, _ members: [UInt8]) -> [UInt8] {
    var line = start
    presentation.appendJSON(to: &line)
    line += members
    return line + "}".utf8
  }

  /// Returns the members with which a device decrypts a message: the preferences as far as they decide about it, and the
  /// payload without the content.
  private static func members(of envelope: WebPushEnvelope, allowsBadge: Bool) -> [UInt8] {
    let level = envelope.level.rawValue
    var members = Array(
      #","preferences":{"badge":\#(allowsBadge)},"payload":{"aps":{"interruption-level":"\#(level)""#.utf8)
    if envelope.hasSound { members += #","sound":"default""#.utf8 }
    members += #"},"web_push":{"endpoint":"#.utf8
    appendJSONString(envelope.endpoint, to: &members)
    return members + "}}".utf8
  }

  private static func members(of attachment: AttachmentReference) -> [UInt8] {
    var members = Array(#","payload":{"attachment":{"id":"\#(attachment.id)","name":"#.utf8)
    appendJSONString(attachment.name, to: &members)
    return members + #","type":"\#(attachment.type.rawValue)","size":\#(attachment.size)}}"#.utf8
  }

  /// Returns a text that has at most `size` bytes as a JSON string without its quotation marks. It ends after a whole
  /// character, and with a mark if it was cut.
  static func cut(_ text: String, to size: Int) -> String {
    if jsonSize(text[...]) <= size { return text }
    var (end, left) = (text.startIndex, size - mark.utf8.count)
    while end < text.endIndex {
      let next = text.index(after: end)
      left -= jsonSize(text[end..<next])
      if left < 0 { break }
      end = next
    }
    return size < mark.utf8.count ? "" : text[..<end] + mark
  }

  /// Returns the size in bytes of a text as a JSON string without its quotation marks.
  private static func jsonSize(_ text: Substring) -> Int {
    var json: [UInt8] = []
    appendJSONString(String(text), to: &json)
    return json.count - 2
  }
}
