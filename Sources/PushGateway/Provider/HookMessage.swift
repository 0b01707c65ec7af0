import PushCore
import PushPolicy

/// A message made from the body of a webhook.
struct HookMessage: Sendable, Equatable {
  typealias Field = SentMessage.Field

  /// The fields of the message, as a sender of messages would send them.
  private(set) var fields: [Field: String] = [:]
  /// The subject, such as a group of alerts. A later message about it replaces this one; nil for none.
  private(set) var subject: String?
  /// True if the subject has ended: the last message about it is retracted, and this one is not sent.
  private(set) var isResolved: Bool

  /// - Parameters:
  ///   - subject: any text that is the same in all messages about the subject.
  ///   - fields: texts of the service. They are cut to the sizes of the fields; absent and empty ones are left out.
  init(subject: String? = nil, isResolved: Bool = false, _ fields: [Field: String?]) {
    self.subject = subject.flatMap { $0.isEmpty ? nil : $0 }
    self.isResolved = isResolved
    for (field, text) in fields {
      guard let text, let shown = HookMessage.text(text, of: field), !shown.isEmpty else { continue }
      self.fields[field] = shown
    }
  }

  /// Returns the identifier of a subject: 32 hex digits, which are also the collapse id of its pushes.
  static func identifier(_ subject: String) -> String {
    String(Digest.hex(Digest.sha256(Array(subject.utf8))).prefix(32))
  }

  /// The maximum sizes of the fields in bytes. A payload has space for all of them, with escapes.
  private static func maximumSize(_ field: Field) -> Int {
    switch field {
    case .title, .subtitle: 200
    case .body: 1_000
    case .link: 800
    default: 64
    }
  }

  /// Returns a text as a message can have it; nil if it has to be left out.
  private static func text(_ text: String, of field: Field) -> String? {
    let size = maximumSize(field)
    guard field != .link else {
      // A cut link would be a different address.
      let isLink = text.hasPrefix("https://") || text.hasPrefix("http://")
      let isPlain = text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F } && !text.contains { $0 == "\"" || $0 == "\\" }
      return isLink && isPlain && text.utf8.count <= size ? text : nil
    }
    let isCut = text.utf8.count > size
    var (shown, count) = (String.UnicodeScalarView(), 0)
    for scalar in text.unicodeScalars {
      count += UTF8.width(scalar)
      // The ellipsis has three bytes.
      if isCut, count > size - 3 { return String(shown) + "…" }
      shown.append(scalar.value < 0x20 && scalar != "\n" ? " " : scalar)
    }
    return String(shown)
  }
}

/// The result of reading the body of a webhook.
enum HookReading: Sendable, Equatable {
  case message(HookMessage)
  /// An event that makes no message, with its name.
  case ignored(String)
}
