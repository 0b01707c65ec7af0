import PushPolicy

/// The description of a message's attachment: a part of the payload that the message becomes.
package struct AttachmentReference: Sendable, Equatable {
  /// 32 hex digits, which are random.
  package var id: String
  /// The name of the file, as ``AttachmentName`` returns it.
  package var name: String
  package var type: AttachmentType
  /// The number of bytes.
  package var size: Int

  package init(id: String, name: String, type: AttachmentType, size: Int) {
    (self.id, self.name, self.type, self.size) = (id, name, type, size)
  }

  /// The size for people, as `12 KB`.
  package var sizeText: String {
    switch size {
    case ..<1_000: "\(size) bytes"
    case ..<999_500: "\((size + 500) / 1_000) KB"
    default: "\((size + 500_000) / 1_000_000) MB"
    }
  }

  /// The line that describes the attachment for people.
  package var words: String { "Attachment: \(name) (\(sizeText))" }

  /// The path at which a device reads an attachment, without its id.
  package static let path = "/v1/device/attachments/"

  /// Returns a new id of 128 random bits.
  package static func randomID() -> String {
    String(decoding: randomBytes(count: idSize / 2).flatMap { [hexDigit($0 >> 4), hexDigit($0 & 15)] }, as: UTF8.self)
  }

  /// Returns true for a text that ``randomID()`` can return.
  package static func isID(_ text: String) -> Bool {
    text.utf8.count == idSize && text.utf8.allSatisfy { hexValue($0) != nil && $0 & 0x60 != 0x40 }
  }

  private static let idSize = 32
}

extension AttachmentReference {
  /// Reads the description in a payload; nil without one, and for a member `attachment` in another form, which belongs to
  /// the app.
  package init?(payload: [UInt8]) {
    let read = try? JSONParser().parse(payload.span) { root -> AttachmentReference? in
      guard let given = root["attachment"], let id = given["id"]?.string, AttachmentReference.isID(id),
        let name = given["name"]?.string, let size = given["size"]?.integer,
        (0...Limits.maximumAttachmentSize).contains(size)
      else { return nil }
      return AttachmentReference(
        id: id, name: AttachmentName.sanitized(name), type: AttachmentType(contentType: given["type"]?.string),
        size: size)
    }
    guard let found = read ?? nil else { return nil }
    self = found
  }
}

/// The media type with which an attachment is served. Only types that no program interprets as code are served as such.
package enum AttachmentType: String, Sendable, CaseIterable {
  case text = "text/plain"
  case png = "image/png"
  case jpeg = "image/jpeg"
  case gif = "image/gif"
  case webp = "image/webp"
  case pdf = "application/pdf"
  /// Any other type.
  case other = "application/octet-stream"

  /// Reads the value of a field `content-type`. Its parameters are ignored.
  package init(contentType: String?) {
    let type = (contentType ?? "").prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }.lowercased()
    self = AttachmentType(rawValue: type) ?? .other
  }

  /// Reads the value of a field `content-type`, or else the ending of the file's name.
  package init(contentType: String?, name: String) {
    self.init(contentType: contentType)
    guard self == .other, let dot = name.lastIndex(of: ".") else { return }
    self = AttachmentType.endings[name[name.index(after: dot)...].lowercased()] ?? .other
  }

  private static let endings: [String: AttachmentType] = [
    "txt": .text, "log": .text, "md": .text, "csv": .text, "png": .png, "jpg": .jpeg, "jpeg": .jpeg, "gif": .gif,
    "webp": .webp, "pdf": .pdf,
  ]
}

/// Names of attachments that are safe in a terminal, in a header field and in a folder of the recipient.
package enum AttachmentName {
  /// The name of an attachment without a usable name.
  package static let fallback = "attachment"
  /// The maximum size in bytes of an ending that a shortened name keeps.
  private static let maximumEnding = 16

  /// Returns the last part of a path without invisible characters, without dots and spaces at its ends, and with at most
  /// ``Limits/maximumAttachmentName`` bytes.
  package static func sanitized(_ path: String) -> String {
    let scalars = path.unicodeScalars
    let separator = scalars.lastIndex { $0 == "/" || $0 == "\\" }
    let start = separator.map { scalars.index(after: $0) } ?? scalars.startIndex
    var shown = Array(scalars[start...]).filter(isShown)[...]
    while let first = shown.first, isMargin(first) { shown.removeFirst() }
    while let last = shown.last, isMargin(last) { shown.removeLast() }
    let name = shortened(shown)
    return name.isEmpty ? fallback : name
  }

  private static func shortened(_ name: ArraySlice<Unicode.Scalar>) -> String {
    guard size(name) > Limits.maximumAttachmentName else { return text(name) }
    var (stem, ending) = (name, ArraySlice<Unicode.Scalar>())
    if let dot = name.lastIndex(of: "."), size(name[dot...]) <= maximumEnding {
      (stem, ending) = (name[..<dot], name[dot...])
    }
    var left = Limits.maximumAttachmentName - size(ending)
    stem = stem.prefix { scalar in
      left -= UTF8.width(scalar)
      return left >= 0
    }
    while let last = stem.last, isMargin(last) { stem.removeLast() }
    return (stem.isEmpty ? fallback : text(stem)) + text(ending)
  }

  private static func size(_ scalars: ArraySlice<Unicode.Scalar>) -> Int {
    scalars.reduce(0) { $0 + UTF8.width($1) }
  }

  private static func text(_ scalars: ArraySlice<Unicode.Scalar>) -> String {
    var text = ""
    text.unicodeScalars.append(contentsOf: scalars)
    return text
  }

  private static func isMargin(_ scalar: Unicode.Scalar) -> Bool { scalar == "." || scalar.properties.isWhitespace }

  /// Returns false for control characters, for characters that change the direction of a text, and for others without a
  /// shape of their own.
  private static func isShown(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: false
    default: true
    }
  }
}
