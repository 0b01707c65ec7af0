import PushCore
import PushPolicy

/// The body of an administrator's request in the form that the audit trail stores: the decoded document, at most
/// ``Limits/maximumAuditedBody`` bytes.
///
/// White space, long texts and long lists of a request can't displace its other members: texts are cut after
/// ``AuditedBody/textSize`` scalars, lists and objects after ``AuditedBody/elementCount`` elements. The members of an
/// object whose values are texts, numbers and booleans come before the others. If a body contains the words PRIVATE
/// KEY, each text in it that is long enough for a line of a key is omitted, under any member name and with any JSON
/// escape.
struct AuditedBody {
  private(set) var bytes: [UInt8] = []

  private static let textSize = 160
  private static let elementCount = 32
  private static let mark = "PRIVATE KEY"
  /// The maximum size in bytes of a text that is stored together with a private key: less than a line of PEM.
  private static let harmlessSize = 48
  private let hasPrivateKey: Bool

  /// - Parameter body: the bytes of the request; a body that is not JSON is stored as one text.
  init(_ body: [UInt8]) {
    let text = String(decoding: body, as: UTF8.self)
    let hasMark = try? JSONParser().parse(body.span) { AuditedBody.hasMark($0) }
    hasPrivateKey = hasMark ?? false || text.contains(AuditedBody.mark)
    guard !body.isEmpty else { return }
    do {
      try JSONParser().parse(body.span) { append($0) }
    } catch {
      append(text: text)
    }
  }

  /// Returns true if a text or a member name of a document contains the mark of a private key.
  private static func hasMark(_ element: JSONElement) -> Bool {
    var isFound = element.string?.contains(mark) == true
    element.forEachElement { if hasMark($0) { isFound = true } }
    element.forEachMember { if $0.contains(mark) || hasMark($1) { isFound = true } }
    return isFound
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
    if hasPrivateKey, text.utf8.count > AuditedBody.harmlessSize {
      return appendJSONString("left out: a private key", to: &bytes)
    }
    // Scalars, since one character may consist of any number of them.
    let kept = text.unicodeScalars.prefix(AuditedBody.textSize)
    appendJSONString(String(kept) + (kept.endIndex == text.endIndex ? "" : "…"), to: &bytes)
  }
}
