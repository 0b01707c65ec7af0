/// Sends what the person has written, and says in words that it was sent.
typealias PushSending = @Sendable (PushDraft) async throws -> String

/// A push that the person is writing.
struct PushDraft: Sendable, Equatable {
  /// From top to bottom; the last is the button that completes.
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
  /// The name of the device that it goes to.
  var device: String
  var title = ""
  var body = ""
  var field = Field.title
  /// Whether it is on its way.
  var isSending = false

  /// Whether keys go into a field.
  var isTyping: Bool { text(of: field) != nil }

  /// Whether nothing would be lost.
  var isEmpty: Bool { title.isEmpty && body.isEmpty }

  /// Why it can't be sent, in words.
  var problem: String? {
    device.isEmpty ? "Name the device that it goes to" : isEmpty ? "Write a title or a message first" : nil
  }

  /// What stands in a field; nil where nothing is typed.
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

  /// Moves by so many fields, and stays at both ends.
  mutating func moveField(_ step: Int) {
    let last = Field.allCases.count - 1
    field = Field(rawValue: min(max(field.rawValue + step, 0), last)) ?? field
  }

  mutating func turnApp(_ step: Int, _ topics: [String]) {
    guard let index = topics.firstIndex(of: topic) else { return }
    topic = topics[min(max(index + step, 0), topics.count - 1)]
  }
}
