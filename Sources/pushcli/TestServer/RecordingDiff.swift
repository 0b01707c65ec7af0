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
  /// The pushes to each token are paired in the order of arrival, so that their differences are smallest. Tokens that differ in
  /// both recordings are paired in the same way by their pushes: tests get new tokens in each run.
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
    let pairs = RecordingAlignment.pairs(others.0.count, others.1.count) {
      RecordingDiff.difference(others.0[$0].pushes, others.1[$1].pushes)
    }
    for pair in pairs {
      let (before, after) = (pair.before.map { others.0[$0] }, pair.after.map { others.1[$0] })
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
    let name = token.isEmpty ? nil : token
    let pairs = RecordingAlignment.pairs(before.count, after.count) { difference(before[$0], after[$1]) }
    return pairs.compactMap { pair -> Change? in
      guard let old = pair.before else {
        return pair.after.map { Change(kind: .added, token: name, place: $0 + 1, fields: []) }
      }
      guard let new = pair.after else { return Change(kind: .missing, token: name, place: old + 1, fields: []) }
      let (one, two) = (before[old], after[new])
      let fields = differing(one, two).sorted().map { Field(field: $0, before: one[$0], after: two[$0]) }
      return fields.isEmpty ? nil : Change(kind: .changed, token: name, place: new + 1, fields: fields)
    }
  }

  private static func differing(_ one: Fields, _ two: Fields) -> Set<String> {
    Set(one.keys).union(two.keys).filter { one[$0] != two[$0] }
  }

  /// Returns the share of differing fields, in the unit of ``RecordingAlignment``; 0 only for equal pushes.
  private static func difference(_ one: Fields, _ two: Fields) -> Int {
    if one == two { return 0 }
    let count = differing(one, two).count
    let equal = one.count { two[$0.key] == $0.value }
    return max(1, RecordingAlignment.maximumDifference * count / (count + equal))
  }

  /// Returns the difference of the first pushes to two tokens; 0 only if all pushes are equal.
  private static func difference(_ one: [Fields], _ two: [Fields]) -> Int {
    one == two ? 0 : max(1, difference(one.first ?? [:], two.first ?? [:]))
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
