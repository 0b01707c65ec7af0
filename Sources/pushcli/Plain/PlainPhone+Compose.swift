import GatewayProtocol
import TerminalUI

/// Composes a push field by field: lines fill its fields until it is sent or canceled.
extension PlainPhone {
  /// The line that cancels; any other line can be a text.
  private static let cancelling = "."

  mutating func compose(_ name: String?) {
    guard phone.canCompose else {
      return say("this state folder has no sender's key: pushcli keys lists and makes keys")
    }
    guard let app = name.map({ self.app($0) }) ?? state.apps.first?.app else {
      return say(name.map(unknownApp) ?? "there is no app to send to yet")
    }
    if name == nil, state.apps.count > 1 {
      return say("compose for which app? Say compose \(app.name), or another of apps")
    }
    phone.draft = PushDraft(topic: app.topic, device: phone.device)
    phone.draft?.field = .device
    say("A push of \(app.name). A line with \(PlainPhone.cancelling) cancels.")
    prompt()
  }

  /// Takes a line as the value of the current field.
  mutating func compose(line: String) -> [PhoneEffect] {
    guard let draft = phone.draft else { return [] }
    let text = Sanitizer.line(line).trimmed
    guard !draft.isSending else {
      return refuse("It is being sent; this input was ignored.")
    }
    if text == PlainPhone.cancelling || draft.field == .send && text.lowercased() == "cancel" {
      phone.draft = nil
      say("Cancelled: nothing was sent.")
      return []
    }
    guard draft.field == .send else {
      // An empty line keeps the present value.
      if !text.isEmpty { phone.draft?.edit { $0 = String(text.prefix(PhoneModel.maximumTextLength)) } }
      phone.draft?.moveField(1)
      if phone.draft?.field == .send, let problem = phone.draft?.problem {
        say(problem)
        phone.draft?.field = .title
      }
      prompt()
      return []
    }
    guard text.lowercased() == "send" else {
      return refuse("send or cancel, not \(PlainLine.quote(text))")
    }
    return phone.sendDraft()
  }

  /// Asks for the current field.
  mutating func prompt() {
    guard let draft = phone.draft else { return }
    switch draft.field {
    case .app, .device: say("To which device? An empty line: \(draft.device)")
    case .title: say("Title?")
    case .body: say("Message? An empty line: none")
    case .send:
      let texts = [draft.title, draft.body].filter { !$0.isEmpty }.joined(separator: ", ")
      say("To \(draft.device): \(texts). send or cancel?")
    }
  }
}
