import PushCore
import PushPolicy
import PushStorage

/// The content of a message to the worker of a closed page: a line of the device protocol without the payload. It is
/// encrypted for the browser: the push service can read only its size and its time.
enum PageMessage {
  /// Writes a push as it is presented.
  ///
  /// - Parameter size: the maximum size in bytes. Texts that are too long are cut at a character, and end with `…`.
  /// - Returns: nil if the push without its texts and actions is still too large.
  static func push(_ push: StoredPush, of app: App, _ presentation: Presentation, maximumSize size: Int) -> [UInt8]? {
    var shown = Presentation(badge: presentation.badge, sound: presentation.sound, alert: presentation.alert)
    let whole = line(push, of: app, shown)
    if whole.count <= size { return whole }
    guard let texts = presentation.alert else { return nil }
    shown.alert = AlertPresentation(buttons: texts.buttons)
    shown.alert?.actions = texts.actions
    var space = size - line(push, of: app, shown).count
    // A title is more useful than the buttons.
    if space < minimumText, texts.actions != nil {
      shown.alert = AlertPresentation()
      space = size - line(push, of: app, shown).count
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
    return line(push, of: app, shown)
  }

  /// Writes the retraction of a push.
  static func retraction(_ id: APNSID) -> [UInt8] { Array(#"{"type":"retract","id":"\#(id)"}"#.utf8) }

  private static let minimumText = 200
  private static let mark = "…"

  private static func line(_ push: StoredPush, of app: App, _ presentation: Presentation) -> [UInt8] {
    var line = Array(#"{"type":"push","id":"\#(push.id)","#.utf8)
    line += app.lineMembers
    line += #","received":"\#(Timestamp.text(push.received))""#.utf8
    if !push.collapseID.isEmpty {
      line += #","collapse":"#.utf8
      appendJSONString(push.collapseID, to: &line)
    }
    line += #","presentation":"#.utf8
    presentation.appendJSON(to: &line)
    return line + "}".utf8
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
