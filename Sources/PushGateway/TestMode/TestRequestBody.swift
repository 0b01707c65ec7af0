import HTTP2Transport
import PushCore
import PushPolicy

/// The members of a request's JSON object, each read once. Problems name the member.
struct TestRequestBody {
  private var members: [String: JSONValue]
  /// The position of the object in the body, before the names of its members in problems.
  private var place = ""

  /// - Throws: 400 if the body is not a JSON object. An empty body counts as an empty object.
  init(_ request: ControlRequest) throws(Problem) {
    if request.body.isEmpty {
      members = [:]
      return
    }
    let value: JSONValue
    do throws(JSONSyntaxError) {
      value = try JSONParser().parse(request.body.span) { JSONValue($0) }
    } catch {
      throw .badRequest("the body is not JSON: \(error.message)")
    }
    guard case .object(let members) = value else { throw .badRequest("the body is not a JSON object") }
    self.members = members
  }

  /// - Parameter place: the position of the object in the body, as `faults[0].`.
  private init(_ members: [String: JSONValue], at place: String) { (self.members, self.place) = (members, place) }

  private func problem(_ name: String, _ detail: String) -> Problem {
    TestRequestBody.problem(place + name, detail)
  }

  /// Returns the problem of a member.
  static func problem(_ field: String, _ detail: String) -> Problem {
    Problem(400, "Bad Request", "\"\(field.prefix(64))\": \(detail)", field: String(field.prefix(64)))
  }

  /// Takes a member of any type; nil if it is missing.
  mutating func value(_ name: String) -> JSONValue? { members.removeValue(forKey: name) }

  mutating func text(_ name: String) throws(Problem) -> String? {
    guard let value = value(name) else { return nil }
    guard let text = value.text else { throw problem(name, "expected a string") }
    return text
  }

  mutating func boolean(_ name: String) throws(Problem) -> Bool? {
    guard let value = value(name) else { return nil }
    guard case .bool(let flag) = value else { throw problem(name, "expected true or false") }
    return flag
  }

  mutating func integer(_ name: String, in range: ClosedRange<Int>) throws(Problem) -> Int? {
    guard let value = value(name) else { return nil }
    guard case .integer(let number) = value, range.contains(number) else {
      throw problem(name, "expected a number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  /// Takes an array of strings.
  mutating func texts(_ name: String, atMost maximum: Int) throws(Problem) -> [String]? {
    guard let value = value(name) else { return nil }
    guard case .array(let elements) = value, elements.count <= maximum else {
      throw problem(name, "expected an array of at most \(maximum) strings")
    }
    let texts = elements.compactMap(\.text)
    guard texts.count == elements.count else { throw problem(name, "expected an array of strings") }
    return texts
  }

  /// Takes an array of objects; nil if it is missing.
  mutating func objects(_ name: String, atMost maximum: Int) throws(Problem) -> [TestRequestBody]? {
    guard let value = value(name) else { return nil }
    guard case .array(let elements) = value, elements.count <= maximum else {
      throw problem(name, "expected an array of at most \(maximum) objects")
    }
    var objects: [TestRequestBody] = []
    for (index, element) in elements.enumerated() {
      guard case .object(let members) = element else { throw problem("\(name)[\(index)]", "expected an object") }
      objects.append(TestRequestBody(members, at: "\(place)\(name)[\(index)]."))
    }
    return objects
  }

  mutating func number(_ name: String, in range: ClosedRange<Double>) throws(Problem) -> Double? {
    let number: Double
    switch value(name) {
    case nil: return nil
    case .integer(let integer)?: number = Double(integer)
    case .number(let value)?: number = value
    default: number = .nan
    }
    guard range.contains(number) else {
      throw problem(name, "expected a number from \(Int(range.lowerBound)) to \(Int(range.upperBound))")
    }
    return number
  }

  mutating func object(_ name: String) throws(Problem) -> [String: JSONValue]? {
    guard let value = value(name) else { return nil }
    guard case .object(let members) = value else { throw problem(name, "expected an object") }
    return members
  }

  /// Takes a duration with a unit.
  ///
  /// - Parameter maximum: the longest duration, in seconds.
  mutating func duration(_ name: String, atMost maximum: Double) throws(Problem) -> Duration? {
    guard let text = try text(name) else { return nil }
    guard let span = TimeSpan(text, requiresUnit: true), span.seconds <= maximum else {
      throw problem(
        name, "expected a duration with a unit, as 250ms, 2s or 61m, of at most \(Int(maximum)) seconds")
    }
    return span.duration
  }

  /// Takes a word of an enumeration.
  mutating func word<Word: RawRepresentable & CaseIterable>(
    _ name: String, _ type: Word.Type = Word.self
  ) throws(Problem) -> Word? where Word.RawValue == String {
    guard let text = try text(name) else { return nil }
    guard let word = Word(rawValue: text) else {
      let words = Word.allCases.map(\.rawValue).joined(separator: ", ")
      throw problem(name, "expected one of \(words)")
    }
    return word
  }

  /// - Throws: 400 for a member that no function took: a misspelled one would be ignored.
  func end() throws(Problem) {
    if let name = members.keys.min() { throw problem(name, "unknown member: omit it") }
  }
}
