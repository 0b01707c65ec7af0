import PushPolicy

/// The differences between two recordings of a test gateway: the effect of a change of the sender on its pushes.
struct RecordingDiff {
  /// A field of a push with both of its values, as JSON; nil if one recording has no such field.
  struct Field: Encodable, Equatable {
    var field: String
    var before: String?
    var after: String?
  }

  /// A push that is only in one recording, or that differs.
  struct Change: Encodable, Equatable {
    enum Kind: String, Encodable { case added, missing, changed }

    var kind: Kind
    var token: String?
    /// The number of the push among all pushes to its token, beginning with 1.
    var place: Int
    /// The differing fields; empty for an added or missing push.
    var fields: [Field]

    /// The change in lines for the user.
    var lines: [String] {
      let target = token.map { "\($0.prefix(16))…" } ?? "no token"
      let head = "\(kind.rawValue): push \(place) to \(target)"
      return [head] + fields.map { "  \($0.field): \($0.before ?? "-") → \($0.after ?? "-")" }
    }
  }

  /// A push as a list of fields, by their JSON pointers.
  private typealias Fields = [String: String]

  let changes: [Change]

  /// The fields that differ between any two runs.
  private static let ignored = [
    "/number", "/received", "/answered", "/id", "/path", "/headers/apns-id", "/sender/connection", "/sender/token_age",
    "/sender/address", "/events",
  ]

  /// Compares recordings, each with one push a line.
  ///
  /// Pushes are compared in the order of arrival for each token. Tokens that differ in both recordings are paired in the order
  /// of their first push: tests get new tokens in each run.
  ///
  /// - Throws: ``CommandFailure`` for a line that is not a push.
  init(_ before: [UInt8], _ after: [UInt8]) throws(CommandFailure) {
    let (one, two) = (try RecordingDiff.pushes(before, "the first"), try RecordingDiff.pushes(after, "the second"))
    let names = Set(one.map(\.token)).intersection(two.map(\.token))
    let others = (
      one.filter { !names.contains($0.token) }, two.filter { !names.contains($0.token) }
    )
    var changes: [Change] = []
    for group in one where names.contains(group.token) {
      let other = two.first { $0.token == group.token }?.pushes ?? []
      changes += RecordingDiff.changes(group.token, group.pushes, other)
    }
    for index in 0..<max(others.0.count, others.1.count) {
      let before = others.0.indices.contains(index) ? others.0[index] : nil
      let after = others.1.indices.contains(index) ? others.1[index] : nil
      changes += RecordingDiff.changes(after?.token ?? before?.token ?? "", before?.pushes ?? [], after?.pushes ?? [])
    }
    self.changes = changes
  }

  /// Returns the pushes of each token, in the order of arrival.
  private static func pushes(
    _ recording: [UInt8], _ name: String
  ) throws(CommandFailure) -> [(token: String, pushes: [Fields])] {
    let parser = JSONParser(maximumDepth: JSONParser.maximumLineDepth)
    var groups: [(token: String, pushes: [Fields])] = []
    for (number, line) in recording.split(separator: UInt8(ascii: "\n")).enumerated() {
      let fields: Fields
      do throws(JSONSyntaxError) {
        fields = try parser.parse(Array(line).span) { root in
          var fields: Fields = [:]
          RecordingDiff.collect(root, at: "", into: &fields)
          return fields
        }
      } catch {
        throw CommandFailure(.usage, "line \(number + 1) of \(name) recording is not JSON: \(error.message)")
      }
      let token = fields.removingValue(forKey: "/token")
      if let index = groups.firstIndex(where: { $0.token == token.value }) {
        groups[index].pushes.append(token.rest)
      } else {
        groups.append((token.value, [token.rest]))
      }
    }
    return groups
  }

  /// Adds the values of an element, with their pointers.
  private static func collect(_ element: JSONElement, at pointer: String, into fields: inout [String: String]) {
    if ignored.contains(pointer) { return }
    switch element.kind {
    case .object:
      element.forEachMember { name, value in
        let token = name.replacing("~", with: "~0").replacing("/", with: "~1")
        collect(value, at: "\(pointer)/\(token)", into: &fields)
      }
    case .array:
      var index = 0
      element.forEachElement { value in
        collect(value, at: "\(pointer)/\(index)", into: &fields)
        index += 1
      }
    case .string: fields[pointer] = element.string.map { "\"\($0)\"" }
    case .integer: fields[pointer] = element.integer.map { String($0) } ?? element.double.map { String($0) }
    case .double: fields[pointer] = element.double.map { String($0) }
    case .bool: fields[pointer] = element.boolean == true ? "true" : "false"
    case .null: fields[pointer] = "null"
    }
  }

  private static func changes(_ token: String, _ before: [Fields], _ after: [Fields]) -> [Change] {
    (0..<max(before.count, after.count)).compactMap { index -> Change? in
      let name = token.isEmpty ? nil : token
      guard before.indices.contains(index) else {
        return Change(kind: .added, token: name, place: index + 1, fields: [])
      }
      guard after.indices.contains(index) else {
        return Change(kind: .missing, token: name, place: index + 1, fields: [])
      }
      let (one, two) = (before[index], after[index])
      let fields = Set(one.keys).union(two.keys).sorted().filter { one[$0] != two[$0] }
        .map { Field(field: $0, before: one[$0], after: two[$0]) }
      return fields.isEmpty ? nil : Change(kind: .changed, token: name, place: index + 1, fields: fields)
    }
  }
}

extension [String: String] {
  /// Returns the text of a field without its quotation marks, and the other fields.
  fileprivate func removingValue(forKey key: String) -> (value: String, rest: [String: String]) {
    var rest = self
    let value = rest.removeValue(forKey: key) ?? ""
    return (value.filter { $0 != "\"" }, rest)
  }
}
