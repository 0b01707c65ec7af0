import PushCore
import PushPolicy

/// The body of an administrator's request as the audit trail keeps it: the decoded document, at most
/// ``Limits/maximumAuditedBody`` bytes.
///
/// No white space, text or list of a request can push the other members out: texts are cut after
/// ``AuditedBody/textSize`` characters, lists and objects after ``AuditedBody/elementCount`` elements, and the members of
/// an object whose values are texts, numbers and booleans come before the others. A text with a private key is left out,
/// whatever its member is called and however JSON escapes it.
struct AuditedBody {
  private(set) var bytes: [UInt8] = []

  private static let textSize = 160
  private static let elementCount = 32
  private static let mark = "PRIVATE KEY"

  /// - Parameter body: the bytes of the request; what is no JSON is kept as one text.
  init(_ body: [UInt8]) {
    guard !body.isEmpty else { return }
    do {
      try JSONParser().parse(body.span) { append($0) }
    } catch {
      bytes = []
      append(text: String(decoding: body, as: UTF8.self))
    }
  }

  private mutating func append(_ element: JSONElement) {
    guard bytes.count < Limits.maximumAuditedBody else { return }
    switch element.kind {
    case .null: append("null")
    case .bool: append(element.boolean == true ? "true" : "false")
    case .integer, .double: append(element.integer.map(String.init) ?? element.double.map { "\($0)" } ?? "null")
    case .string: append(text: element.string ?? "")
    case .array:
      append("[")
      var count = 0
      element.forEachElement { element in
        count += 1
        guard count <= AuditedBody.elementCount else { return }
        if count > 1 { append(",") }
        append(element)
      }
      if count > AuditedBody.elementCount { append(#","… \#(count) in all""#) }
      append("]")
    case .object:
      append("{")
      var count = 0
      for isNested in [false, true] {
        element.forEachMember { key, value in
          let isOfThis = (value.kind == .array || value.kind == .object) == isNested
          guard isOfThis, count < AuditedBody.elementCount else { return }
          if count > 0 { append(",") }
          count += 1
          append(text: key)
          append(":")
          append(value)
        }
      }
      append("}")
    }
  }

  private mutating func append(_ words: String) { bytes.append(contentsOf: words.utf8) }

  private mutating func append(text: String) {
    let shown =
      text.contains(AuditedBody.mark)
      ? "left out: a private key"
      : text.count > AuditedBody.textSize ? text.prefix(AuditedBody.textSize) + "…" : text
    appendJSONString(shown, to: &bytes)
  }
}
