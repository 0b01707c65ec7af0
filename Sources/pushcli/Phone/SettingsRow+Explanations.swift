extension SettingsRow {
  /// The effect of the setting, in one line.
  var explanation: String {
    switch key {
    case .device(let field): SettingsRow.device[field] ?? ""
    case .standing: note
    case .choice(let name, _, _): SettingsRow.choices[String(name.prefix { $0 != "." })] ?? ""
    }
  }

  private static let device: [SettingsRow.DeviceField: String] = [
    .silent: "No sounds on this device, except critical ones that are allowed.",
    .focus: "While a Focus is on, only the apps that it lets through may interrupt.",
    .volume: "How loud sounds are here, from 0 to 100. A sender can only lower it.",
    .notices: "Alerts outside of this terminal, too: never, while it is unfocused, always.",
    .appearance: "Colors for a dark or a light terminal; automatic asks the terminal.",
    .mouse: "Clicks and the wheel work here; off leaves the mouse to the terminal.",
  ]

  /// The explanations by the name of the preference.
  private static let choices = [
    "notifications": "Off refuses every push: no badge, no sound, no alert.",
    "badge": "The number on the icon of an app.",
    "sound": "Whether a push may play a sound.",
    "alert": "Whether a push may open an alert with its text.",
    "quiet": "Times in which nothing is shown or played, such as 22:00-07:00 mon-fri.",
    "summary": "Times at which deferred pushes come as a summary, up to 12 a day.",
    "focus": "Topics of the apps that may interrupt in this Focus; none lets none through.",
    "log-text": "Who can find pushes by text in the log: nobody, own devices, senders too.",
    "delivery": "Now shows pushes at once; summary defers them to the times of the summary.",
    "time-sensitive": "Time-sensitive pushes come through quiet hours and a Focus.",
    "critical": "Critical pushes come through everything and sound while it is silent.",
    "advertising": "Whether alerts of this app may contain advertisements.",
    "marketing": "Whether pushes that their sender declares as marketing may alert.",
    "budget": "Further alerts within the hour go to the center; default is 20 an hour.",
    "permission": "Show, quiet or off; new is quiet where the app's new categories start so.",
    "provisional": "Pushes of this app come without sound and alert until this is off.",
  ]

  /// The maximum length of an explanation in characters.
  static let maximumExplanationLength = 76
}
