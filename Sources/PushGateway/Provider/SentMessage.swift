import GatewayProtocol
import PushCore
import PushPolicy

/// A message of a sender without a provider token, decoded to the payload of a push.
///
/// The content type selects the form: a text, the fields of a form, or a JSON object with the same fields. `curl -d`
/// sends every body as a form. So a body of this type, or of none, is JSON if it is a JSON object, a form if it begins
/// with the name of a field and `=`, and otherwise a text. A form of several parts (`curl -F`) can have a file.
struct SentMessage: Sendable, Equatable {
  /// The fields of a form and of a JSON object.
  enum Field: String, CaseIterable, Sendable {
    case title, subtitle, body, link, level, badge, sound, category, thread, at
    case delay = "in"
  }

  fileprivate enum Value: Equatable {
    case text(String)
    /// A number in JSON.
    case number(String)
    /// A boolean, an array or an object.
    case other
  }

  /// The payload of the push, as a sender with a provider token would send it.
  let payload: [UInt8]
  /// The time of delivery in seconds since 1970; nil: now.
  let deliverAt: Int64?
  /// The file of the message; nil for none.
  private(set) var attachment: SentAttachment?
  /// The fields, from which a repeated message makes its payload.
  fileprivate var fields: [Field: Value] = [:]

  /// Decodes the body of a request.
  ///
  /// - Parameter now: seconds since 1970.
  init(
    _ body: [UInt8], contentType: String?, parser: JSONParser, now: Int64
  ) throws(MessageRefusal) {
    ReadingSteps.add(body.count)
    let type = SentMessage.mediaType(contentType)
    if type == SentMessage.formWithFiles {
      let (fields, attachment) = try SentMessage.parts(of: MultipartForm(body, contentType: contentType ?? ""))
      try self.init(fields, attachment, now: now)
    } else {
      try self.init(try SentMessage.fields(of: body, type, parser), nil, now: now)
    }
  }

  /// Creates the message that another API, or a webhook, has decoded to these fields. An empty text counts as absent, and
  /// digits are a number where one is expected, as in a form.
  ///
  /// - Parameter now: seconds since 1970.
  init(_ texts: [Field: String], attachment: SentAttachment? = nil, now: Int64) throws(MessageRefusal) {
    var fields: [Field: Value] = [:]
    for (field, text) in texts { fields[field] = SentMessage.value(text, of: field) }
    try self.init(fields, attachment, now: now)
  }

  private init(_ fields: [Field: Value], _ attachment: SentAttachment?, now: Int64) throws(MessageRefusal) {
    deliverAt = try SentMessage.deliveryTime(fields, now: now)
    payload = try SentMessage.payload(fields, attachment?.reference)
    (self.fields, self.attachment) = (fields, attachment)
    guard payload.count <= Limits.maximumPayloadSize else { throw SentMessage.tooLarge }
  }

  /// Creates a message from an encrypted text, which only its device can decrypt.
  init(encrypted envelope: WebPushEnvelope) { (payload, deliverAt) = (envelope.payload, nil) }

  /// Returns the payload with the number of equal messages at the end of its text, as `Backup failed (3 times)`. A
  /// message without a text, or without space for the number, stays as it is.
  func payload(times count: Int) -> [UInt8] {
    guard count > 1 else { return payload }
    var fields = fields
    for field in [Field.body, .title, .subtitle] {
      guard case .text(let text)? = fields[field], !text.isEmpty else { continue }
      fields[field] = .text("\(text) (\(count) times)")
      guard let counted = try? SentMessage.payload(fields, attachment?.reference),
        counted.count <= Limits.maximumPayloadSize
      else { break }
      return counted
    }
    return payload
  }

  static let tooLarge = MessageRefusal(
    413, "MessageTooLarge", "the message is too large: expected at most \(Limits.maximumMessageSize) bytes")

  // MARK: Forms of a body

  /// Returns a media type without its parameters; nil if there is none.
  static func mediaType(_ contentType: String?) -> String? {
    let type = contentType?.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }.lowercased()
    return type?.isEmpty == true ? nil : type
  }

  private static func fields(
    of body: [UInt8], _ type: String?, _ parser: JSONParser
  ) throws(MessageRefusal) -> [Field: Value] {
    switch type {
    case "text/plain": return [.body: .text(try text(body[...]))]
    case "application/json": return try members(of: body, parser)
    case nil, "application/x-www-form-urlencoded":
      if isObject(body, parser) { return try members(of: body, parser) }
      if let fields = try form(body) { return fields }
      return [.body: .text(try text(body[...]))]
    case let type?:
      throw MessageRefusal(
        415, "UnsupportedContentType",
        "unsupported content type \(type.prefix(64)): expected text/plain, application/json, "
          + "application/x-www-form-urlencoded or multipart/form-data")
    }
  }

  /// The media type of a form that can have a file.
  static let formWithFiles = "multipart/form-data"
  /// The name of the part with the file.
  private static let attachmentName = "attachment"

  /// Returns the fields of a form of several parts, and its file. Without a text, the name of the file is the text.
  private static func parts(of form: MultipartForm) throws(MessageRefusal) -> ([Field: Value], SentAttachment?) {
    var (fields, attachment): ([Field: Value], SentAttachment?) = ([:], nil)
    for part in form.parts {
      guard let fileName = part.fileName else {
        guard part.name != attachmentName else {
          throw .badMessage("attachment: expected a file, as in curl -F attachment=@report.txt")
        }
        guard part.content.count <= Limits.maximumMessageSize else { throw tooLarge }
        try add(value(try text(part.content), of: Field(rawValue: part.name)), part.name, to: &fields)
        continue
      }
      // A form in a browser has such a part if no file is selected.
      if fileName.isEmpty, part.content.isEmpty { continue }
      guard part.name == attachmentName else {
        throw .badMessage("\(part.name.prefix(32)): expected a text; the part with the file is attachment")
      }
      guard attachment == nil else { throw .badMessage("a message has one attachment: send each file in a message") }
      attachment = try SentAttachment(name: fileName, contentType: part.contentType, content: part.content)
    }
    let hasText = [Field.title, .subtitle, .body].contains { fields[$0] ?? .text("") != .text("") }
    if let attachment, !hasText { fields[.body] = .text(attachment.text) }
    return (fields, attachment)
  }

  static func isObject(_ body: [UInt8], _ parser: JSONParser) -> Bool {
    guard body.first(where: { $0 > 0x20 }) == UInt8(ascii: "{") else { return false }
    return (try? parser.parse(body.span) { $0.kind == .object }) == true
  }

  private static func members(of body: [UInt8], _ parser: JSONParser) throws(MessageRefusal) -> [Field: Value] {
    var fields: [Field: Value] = [:]
    var refusal: MessageRefusal?
    do {
      try parser.parse(body.span) { root in
        guard root.kind == .object else {
          refusal = .badMessage(#"the body is not a JSON object: expected one, as {"body":"Backup done"}"#)
          return
        }
        root.forEachMember { name, value in
          guard refusal == nil, value.kind != .null else { return }
          do throws(MessageRefusal) {
            try add(Value(value), name, to: &fields)
          } catch {
            refusal = error
          }
        }
      }
    } catch {
      throw .badMessage("the body is not JSON: \(error.message)")
    }
    if let refusal { throw refusal }
    return fields
  }

  /// Returns the fields of a form; nil if the body does not begin with the name of a field and `=`.
  private static func form(_ body: [UInt8]) throws(MessageRefusal) -> [Field: Value]? {
    var fields: [Field: Value] = [:]
    for pair in withoutLineEnd(body[...]).split(separator: UInt8(ascii: "&")) {
      let sides = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      let name = String(decoding: sides[0], as: UTF8.self)
      if fields.isEmpty, sides.count < 2 || Field(rawValue: name) == nil { return nil }
      let value = try text(FormData.percentDecoded(sides.count > 1 ? sides[1] : [])[...])
      // A form has no types.
      try add(SentMessage.value(value, of: Field(rawValue: name)), name, to: &fields)
    }
    return fields.isEmpty ? nil : fields
  }

  /// Returns the value of a text without a type: digits are a number where one is expected. JSON has no `007`.
  private static func value(_ text: String, of field: Field?) -> Value {
    let number = field == .badge ? Int(text) : nil
    return number.map { .number(String($0)) } ?? .text(text)
  }

  private static func add(_ value: Value, _ name: String, to fields: inout [Field: Value]) throws(MessageRefusal) {
    guard let field = Field(rawValue: name) else {
      let names = Field.allCases.map(\.rawValue).joined(separator: ", ")
      throw .badMessage("unknown field \(name.prefix(32)): expected \(names); in a form, write & in a value as %26")
    }
    guard fields.updateValue(value, forKey: field) == nil else { throw .badMessage("\(name) is given twice") }
  }

  private static func withoutLineEnd(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var bytes = bytes
    while bytes.last == UInt8(ascii: "\n") || bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
    return bytes
  }

  private static func text(_ bytes: ArraySlice<UInt8>) throws(MessageRefusal) -> String {
    guard let text = String(validating: withoutLineEnd(bytes), as: UTF8.self) else {
      throw .badMessage("the text is not valid UTF-8")
    }
    return text
  }

  // MARK: The push

  private static func deliveryTime(_ fields: [Field: Value], now: Int64) throws(MessageRefusal) -> Int64? {
    let time: Int64
    switch (try word(.at, fields), try word(.delay, fields)) {
    case (nil, nil): return nil
    case (_?, _?): throw .badMessage("at, in: expected only one of them")
    case (let at?, nil):
      let milliseconds = Timestamp.read(at.utf8) ?? Timestamp.read(at.utf8, .seconds)
      guard let seconds = Int64(at) ?? milliseconds.map({ $0 / 1000 }) else {
        throw .badMessage("at: expected a time in UTC, as 2026-11-21T18:00:00Z, or seconds since 1970")
      }
      time = seconds
    case (nil, let delay?):
      guard let span = TimeSpan(delay) else { throw .badMessage("in: expected a duration, as 30s, 10m, 2h or 7d") }
      time = now + Int64(span.seconds.rounded(.up))
    }
    guard time > now else { return nil }
    guard time - now <= Int64(Limits.maximumScheduleTime) else {
      throw .badMessage("at, in: expected a time within 30 days")
    }
    return time
  }

  private static func payload(
    _ fields: [Field: Value], _ attachment: AttachmentReference?
  ) throws(MessageRefusal) -> [UInt8] {
    let (title, subtitle) = (try word(.title, fields), try word(.subtitle, fields))
    let (body, sound, link) = (try word(.body, fields), try word(.sound, fields), try link(fields))
    let alert: [(StaticString, String?)] = [("title", title), ("subtitle", subtitle), ("body", body)]
    let hasAlert = alert.contains { $0.1 != nil }
    guard hasAlert || sound != nil || link != nil || fields[.badge] != nil else {
      throw .badMessage("there is nothing to show: expected a text, or a title, body, badge, sound or link")
    }
    var json = JSONMembers()
    json.begin("aps")
    if hasAlert {
      json.begin("alert")
      for (name, text) in alert { json.add(name, text) }
      json.end()
    }
    try json.add("badge", literal: badge(fields))
    json.add("sound", sound)
    json.add("category", try word(.category, fields))
    json.add("thread-id", try word(.thread, fields))
    json.add("interruption-level", try level(fields))
    json.end()
    json.add("url", link)
    if let attachment {
      json.begin("attachment")
      json.add("id", attachment.id)
      json.add("name", attachment.name)
      json.add("type", attachment.type.rawValue)
      json.add("size", literal: Array("\(attachment.size)".utf8))
      json.end()
    }
    return json.bytes
  }

  /// Returns the text of a field; nil for a field that is absent or empty.
  private static func word(_ field: Field, _ fields: [Field: Value]) throws(MessageRefusal) -> String? {
    switch fields[field] {
    case nil: return nil
    case .text(let text)?: return text.isEmpty ? nil : text
    case .number(let number)? where field == .at || field == .delay: return number
    case .number?, .other?: throw .badMessage("\(field.rawValue): expected a text")
    }
  }

  /// Returns the badge as JSON. A text stays a text, which rule B1 refuses as in every payload.
  private static func badge(_ fields: [Field: Value]) throws(MessageRefusal) -> [UInt8]? {
    switch fields[.badge] {
    case nil: return nil
    case .number(let number)?: return Array(number.utf8)
    case .text(let text)?:
      var literal: [UInt8] = []
      appendJSONString(text, to: &literal)
      return literal
    case .other?: throw .badMessage("badge: expected a whole number of at least 0")
    }
  }

  private static func level(_ fields: [Field: Value]) throws(MessageRefusal) -> String? {
    guard let level = try word(.level, fields) else { return nil }
    guard InterruptionLevel(rawValue: level) != nil else {
      let levels = InterruptionLevel.allCases.map(\.rawValue).joined(separator: ", ")
      throw .badMessage("level: expected \(levels)")
    }
    return level
  }

  private static func link(_ fields: [Field: Value]) throws(MessageRefusal) -> String? {
    guard let link = try word(.link, fields) else { return nil }
    guard isLink(link) else {
      throw .badMessage("link: expected an address that begins with https:// or http://")
    }
    return link
  }

  /// Returns true for an address that the action View opens.
  static func isLink(_ text: String) -> Bool {
    (text.hasPrefix("https://") || text.hasPrefix("http://")) && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
  }
}

extension SentMessage.Value {
  fileprivate init(_ element: JSONElement) {
    switch element.kind {
    case .string: self = .text(element.string ?? "")
    case .integer, .double:
      self = .number(element.integer.map(String.init) ?? element.double.map { "\($0)" } ?? "0")
    case .null, .bool, .array, .object: self = .other
    }
  }
}

/// A JSON object that is written member by member.
private struct JSONMembers {
  private var open = Array("{".utf8)
  private var isFirst = true

  /// The complete object.
  var bytes: [UInt8] { open + "}".utf8 }

  private mutating func name(_ name: StaticString) {
    append(isFirst ? "\"" : ",\"", to: &open)
    append(name, to: &open)
    append("\":", to: &open)
    isFirst = false
  }

  mutating func begin(_ object: StaticString) {
    name(object)
    append("{", to: &open)
    isFirst = true
  }

  mutating func end() {
    append("}", to: &open)
    isFirst = false
  }

  mutating func add(_ member: StaticString, _ text: String?) {
    guard let text else { return }
    name(member)
    appendJSONString(text, to: &open)
  }

  mutating func add(_ member: StaticString, literal: [UInt8]?) {
    guard let literal else { return }
    name(member)
    open += literal
  }
}
