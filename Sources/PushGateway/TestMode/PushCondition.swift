import PushCore
import PushPolicy

/// One condition on a field of a push.
struct PushCondition: Sendable {
  /// The comparison with the value of the field.
  enum Test: Sendable {
    case equals(JSONValue)
    /// The value of a query, which has no types: a number, true or false, or a text with the same characters.
    case isWritten(JSONValue, text: String)
    case contains(String)
    case matches(LinearPattern, text: String)
  }

  /// A condition that can't be read.
  struct Invalid: Error {
    /// The name of the field, with its operator.
    var field: String
    var problem: String
  }

  let name: String
  let field: PushField
  private(set) var test: Test

  /// Reads a condition.
  ///
  /// - Parameters:
  ///   - key: the field, and `~` for a regular expression or `*` for a part of the text.
  ///   - value: the value, the pattern or the part.
  ///   - steps: the maximum number of steps of a regular expression, over all pushes.
  init(_ key: String, _ value: JSONValue, steps: Int = LinearPattern.maximumSteps) throws(Invalid) {
    let mark = key.last.flatMap { "~*".contains($0) ? $0 : nil }
    let name = mark == nil ? key : String(key.dropLast())
    guard let field = PushField(name) else {
      let names = PushField.names.map(\.name).joined(separator: ", ")
      throw Invalid(field: key, problem: "unknown field \"\(name)\": expected payload./POINTER, \(names)")
    }
    (self.name, self.field) = (name, field)
    if mark == nil {
      test = .equals(value)
      return
    }
    guard let text = value.text else { throw Invalid(field: key, problem: "expected a text after \"\(key)\"") }
    if mark == "*" {
      test = .contains(text)
      return
    }
    do throws(LinearPattern.SyntaxError) {
      test = .matches(try LinearPattern(text, steps: steps), text: text)
    } catch {
      throw Invalid(field: key, problem: "the regular expression can't be used: \(error.description)")
    }
  }

  /// Reads a condition of a query.
  ///
  /// - Parameter text: the value as a number, `true`, `false` or `null`, or any other text.
  init(query key: String, _ text: String, _ parser: JSONParser) throws(Invalid) {
    try self.init(key, .string(text))
    guard case .equals = test else { return }
    switch JSONValue(parsing: Array(text.utf8), by: parser) {
    case .null?: test = .equals(.null)
    case .integer(let number)?: test = .isWritten(.integer(number), text: text)
    case .number(let number)?: test = .isWritten(.number(number), text: text)
    case .bool(let flag)?: test = .isWritten(.bool(flag), text: text)
    default: break
    }
  }

  /// Reads the conditions of an object, in the order of their names.
  static func list(_ members: [String: JSONValue]) throws(Invalid) -> [PushCondition] {
    var conditions: [PushCondition] = []
    for (key, value) in members.sorted(by: { $0.key < $1.key }) {
      conditions.append(try PushCondition(key, value))
    }
    return conditions
  }

  /// The problem of a regular expression that has taken all of its steps, so that its results are incomplete; else nil.
  var exhaustion: Invalid? {
    guard case .matches(let pattern, _) = test, pattern.isExhausted else { return nil }
    return Invalid(
      field: name + "~",
      problem: "the regular expression needs more than \(LinearPattern.maximumSteps) steps for these pushes: "
        + "expected a simpler one, or fewer pushes (token, since)")
  }

  /// The value, the pattern or the part that is expected.
  var expected: JSONValue {
    switch test {
    case .equals(let value), .isWritten(let value, _): value
    case .contains(let text), .matches(_, let text): .string(text)
    }
  }

  /// Returns true if a push meets the condition.
  func isMet(by push: RecordedPush) -> Bool {
    let found = field.value(in: push)
    switch test {
    case .equals(.null): return found == nil || found == .null
    // A sender may write an id in lowercase or uppercase letters.
    case .equals(let value) where field == .id: return found?.text?.uppercased() == value.text?.uppercased()
    case .equals(let value): return found.map { $0.equals(value) } ?? false
    case .isWritten(let value, let text): return found.map { $0.equals(value) || $0.text == text } ?? false
    case .contains(let part): return PushCondition.text(of: found).map { part.isEmpty || $0.contains(part) } ?? false
    case .matches(let pattern, _): return PushCondition.text(of: found).map(pattern.isFound) ?? false
    }
  }

  /// Returns a value as text, as in its JSON; nil for a missing one, an array or an object.
  private static func text(of value: JSONValue?) -> String? {
    switch value {
    case .integer(let number)?: String(number)
    case .number(let number)?: String(number)
    case .bool(let flag)?: String(flag)
    default: value?.text
    }
  }
}
