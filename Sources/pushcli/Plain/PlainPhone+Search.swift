import GatewayProtocol
import PushPolicy

extension PlainPhone {
  /// Searches as on the screen: a text, and a scope after the last `in`.
  mutating func search(_ typed: String) {
    let (text, scope) = searched(typed)
    listCenter(text, in: scope)
  }

  /// Splits a search into text and scope; `in` belongs to the text if no part of the center follows it.
  private func searched(_ typed: String) -> (text: String, scope: CenterScope) {
    let words = typed.split(separator: " ")
    guard let mark = words.lastIndex(where: { $0.lowercased() == "in" }), mark + 1 < words.count,
      let scope = scope(words[(mark + 1)...].joined(separator: " ").lowercased())
    else { return (typed, .all) }
    return (words[..<mark].joined(separator: " "), scope)
  }

  private func scope(_ name: String) -> CenterScope? {
    switch name {
    case "all": .all
    case "unread": .unread
    default: InterruptionLevel(rawValue: name).map { .level($0) } ?? app(name).map { .app($0.topic) }
    }
  }
}
