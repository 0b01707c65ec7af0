package import GatewayProtocol
import PushCore
import Yams

extension FaultRule {
  /// Parses a scenario file: YAML with a list `faults` (docs/send/test-error-handling.md). An error in one
  /// entry rejects the whole file.
  ///
  /// - Throws: ``FaultError`` with the error and its location.
  package static func list(yaml: String) throws(FaultError) -> [FaultRule] {
    guard !YAMLAliases.areTooMany(in: yaml) else {
      throw FaultError(description: "invalid YAML: \(YAMLAliases.excess)")
    }
    let loaded: Any?
    do {
      loaded = try Yams.compose(yaml: yaml).map(value)
    } catch {
      let words = String(describing: error).split(separator: "\n").prefix(2).joined(separator: " ")
      throw FaultError(description: "invalid YAML: \(words)")
    }
    guard let scenario = loaded as? [String: Any], scenario.keys.allSatisfy({ $0 == "faults" }),
      let entries = scenario["faults"] as? [Any]
    else {
      throw FaultError(description: "invalid scenario: expected one list, `faults:`, with an entry for each fault")
    }
    var rules: [FaultRule] = []
    var names: Set<String> = []
    for (index, entry) in entries.enumerated() {
      guard let values = entry as? [String: Any] else {
        throw FaultError(description: "fault \(index + 1): expected `name: value` lines")
      }
      let rule = try FaultRule(values, place: index + 1)
      guard names.insert(rule.name).inserted else {
        throw FaultError(description: "fault \"\(rule.name)\": the name occurs twice")
      }
      _ = try Fault(rule)
      rules.append(rule)
    }
    return rules
  }

  /// Returns the value of a node: a list, values by their names, or a text, a number or a Boolean value.
  ///
  /// The conversions of Yams end the process for some values, such as a list in place of a name, or a base-60 number.
  private static func value(_ node: Node) -> Any {
    switch node {
    case .sequence(let list): return list.map(value)
    case .mapping(let members):
      let pairs = members.map { ($0.key.scalar?.string ?? "", value($0.value)) }
      return Dictionary(pairs) { $1 }
    case .scalar(let scalar):
      guard scalar.style == .plain || scalar.style == .any else { return scalar.string }
      switch scalar.string {
      case "true": return true
      case "false": return false
      case let text:
        if let whole = Int(text) { return whole }
        if let number = Double(text) { return number }
        return text
      }
    case .alias: return ""
    }
  }

  /// Creates a rule from the values of an entry; throws for an unknown key, or for a value of another type.
  private init(_ values: [String: Any], place: Int) throws(FaultError) {
    guard let name = values["name"] as? String else {
      throw FaultError(description: "fault \(place): `name:` is missing")
    }
    self.init(name: name)
    for (word, value) in values {
      func fail(_ due: String) -> FaultError {
        FaultError(description: "fault \"\(name)\": invalid \(word) \"\(value)\": expected \(due)")
      }
      func text() throws(FaultError) -> String {
        // YAML parses unquoted digits as a number; a token or a key ID of digits has to be quoted.
        guard let text = value as? String else { throw fail("text (in quotes, if it is all digits)") }
        return text
      }
      func whole() throws(FaultError) -> Int {
        guard let number = value as? Int else { throw fail("a whole number") }
        return number
      }
      func number() throws(FaultError) -> Double {
        guard let number = (value as? Double) ?? (value as? Int).map(Double.init) else { throw fail("a number") }
        return number
      }
      func seconds() throws(FaultError) -> Double {
        if let text = value as? String {
          guard let span = TimeSpan(text) else { throw fail("a time, as 250ms, 30s or 10m") }
          return span.seconds
        }
        return try number()
      }
      func truth() throws(FaultError) -> Bool {
        guard let truth = value as? Bool else { throw fail("true or false") }
        return truth
      }
      guard let key = CodingKeys(stringValue: word) else {
        let known = CodingKeys.allCases.map(\.stringValue).joined(separator: ", ")
        throw FaultError(description: "fault \"\(name)\": unknown key \"\(word)\": expected one of \(known)")
      }
      switch key {
      case .name: break
      case .app: app = try text()
      case .token: token = try text()
      case .key: self.key = try text()
      case .connection: if let number = value as? Int { connection = String(number) } else { connection = try text() }
      case .reason: reason = try text()
      case .status: status = try whole()
      case .retryAfter: retryAfter = try whole()
      case .delay: delay = try seconds()
      case .reset: if let number = value as? Int { reset = String(number) } else { reset = try text() }
      case .goaway: goaway = try text()
      case .drop: drop = try truth()
      case .halfOpen: halfOpen = try truth()
      case .stall: stall = try truth()
      case .streams: streams = try whole()
      case .throttle: throttle = try whole()
      case .unregister: unregister = try truth()
      case .count: count = try whole()
      case .rate: rate = try number()
      case .seed:
        guard let seed = UInt64(exactly: try whole()) else { throw fail("a number from 0") }
        self.seed = seed
      case .seconds: self.seconds = try seconds()
      }
    }
  }
}
