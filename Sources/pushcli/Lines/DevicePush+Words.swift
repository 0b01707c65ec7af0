import GatewayProtocol
import PushPolicy

extension DevicePush {
  /// A headline and a detail for lists: the texts of the alert, or a description of the other parts.
  var summary: (headline: String, detail: String) {
    guard let alert = presentation.listed else {
      let parts = [
        presentation.badge.map { $0 == 0 ? "Badge cleared" : "Badge \($0)" },
        presentation.sound.map { "Sound \($0)" },
      ].compactMap { $0 }
      return (parts.isEmpty ? "Nothing presented" : parts.joined(separator: ", "), "")
    }
    return (alert.texts.first ?? "", alert.texts.dropFirst().joined(separator: " — "))
  }

  /// The text in lines: the texts of the alert, or a description of the other parts.
  var text: String { presentation.listed?.texts.joined(separator: "\n") ?? summary.headline }
}

extension Presentation {
  /// The texts for lists: those of the alert, or of an alert that may not interrupt and is only listed.
  var listed: AlertPresentation? { alert ?? center }
}
