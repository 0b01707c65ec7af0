import PushPolicy

/// A possible answer of the user to an alert.
struct AlertChoice: Sendable, Equatable {
  var title: String
  /// The action that the gateway receives: `close`, `view`, `ok`, or a category's action.
  var action: String
  var isDestructive = false

  /// The action of a button that opens the action sheet; it is never sent to the gateway.
  static let options = "options"
}

extension AlertPresentation {
  /// The title, subtitle and body that are not empty.
  var texts: [String] { [title, subtitle, body].filter { !$0.isEmpty } }

  /// All possible answers in one list: for the linear form, which has no sheets.
  var linearChoices: [AlertChoice] {
    sheetChoices.count > 1 ? [AlertChoice(title: "Close", action: "close")] + sheetChoices : choices
  }

  /// The buttons of the alert's action sheet.
  var sheetChoices: [AlertChoice] {
    (actions ?? []).map { AlertChoice(title: $0.title, action: $0.id, isDestructive: $0.isDestructive) }
  }

  /// The one or two buttons of the alert, the cancelling one first (A3, A4).
  var choices: [AlertChoice] {
    if let actions, let first = actions.first, buttons.count > 1 {
      let close = AlertChoice(title: "Close", action: "close")
      if actions.count > 1 { return [close, AlertChoice(title: "Options", action: AlertChoice.options)] }
      let only = AlertChoice(title: first.title, action: first.id, isDestructive: first.isDestructive)
      return first.isDestructive ? [only, close] : [close, only]
    }
    guard buttons.count > 1 else { return [AlertChoice(title: buttons.first ?? "OK", action: "ok")] }
    return [AlertChoice(title: buttons[0], action: "close"), AlertChoice(title: buttons[1], action: "view")]
  }
}
