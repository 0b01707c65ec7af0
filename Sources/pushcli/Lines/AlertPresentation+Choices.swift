import PushPolicy

extension AlertAction {
  /// The id of the button that opens the action sheet; it is never sent to the gateway.
  static let options = "options"
}

extension AlertPresentation {
  /// The title, subtitle and body that are not empty.
  var texts: [String] { [title, subtitle, body].filter { !$0.isEmpty } }

  /// All possible answers in one list: for the linear form, which has no sheets.
  ///
  /// The id of an answer is what the gateway receives: `close`, `view`, `ok`, or a category's action.
  var linearChoices: [AlertAction] {
    sheetChoices.count > 1 ? [AlertAction(id: "close", title: "Close")] + sheetChoices : choices
  }

  var sheetChoices: [AlertAction] { actions ?? [] }

  /// The one or two buttons of the alert, the cancelling one first (A3, A4).
  var choices: [AlertAction] {
    if let actions, let first = actions.first, buttons.count > 1 {
      let close = AlertAction(id: "close", title: "Close")
      if actions.count > 1 { return [close, AlertAction(id: AlertAction.options, title: "Options")] }
      return first.isDestructive ? [first, close] : [close, first]
    }
    guard buttons.count > 1 else { return [AlertAction(id: "ok", title: buttons.first ?? "OK")] }
    return [AlertAction(id: "close", title: buttons[0]), AlertAction(id: "view", title: buttons[1])]
  }
}
