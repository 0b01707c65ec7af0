/// Sends the push that the user has written, and returns a confirmation as text.
typealias PushSending = @Sendable (PushDraft) async throws -> String

/// A push that the user is writing.
struct PushDraft: Sendable, Equatable {
  /// The fields from top to bottom; the last one is the completing button.
  enum Field: Int, Sendable, CaseIterable {
    case app, device, title, body, send

    var name: String {
      switch self {
      case .app: "App"
      case .device: "To"
      case .title: "Title"
      case .body: "Message"
      case .send: "Send"
      }
    }
  }

  var topic: String
  /// The name of the recipient's device.
  var device: String
  var title = ""
  var body = ""
  var field = Field.title
  /// True while the push is being sent.
  var isSending = false

  /// True if keys go into a field.
  var isTyping: Bool { text(of: field) != nil }

  /// True if the push has no text that could be lost.
  var isEmpty: Bool { title.isEmpty && body.isEmpty }

  /// The reason why the push cannot be sent, as text.
  var problem: String? {
    device.isEmpty ? "Name the device that it goes to" : isEmpty ? "Write a title or a message first" : nil
  }

  /// Returns the text of a field; nil for a field without text input.
  func text(of field: Field) -> String? {
    switch field {
    case .device: device
    case .title: title
    case .body: body
    case .app, .send: nil
    }
  }

  mutating func edit(_ change: (inout String) -> Void) {
    switch field {
    case .device: change(&device)
    case .title: change(&title)
    case .body: change(&body)
    case .app, .send: break
    }
  }

  /// Moves the focus by this number of fields, and stops at both ends.
  mutating func moveField(_ step: Int) {
    let last = Field.allCases.count - 1
    field = Field(rawValue: min(max(field.rawValue + step, 0), last)) ?? field
  }

  mutating func turnApp(_ step: Int, _ topics: [String]) {
    guard let index = topics.firstIndex(of: topic) else { return }
    topic = topics[min(max(index + step, 0), topics.count - 1)]
  }
}
