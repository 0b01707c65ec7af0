import GatewayProtocol
import PushCore

/// The faults of a token: the entries of a scenario file without its selectors, so that parallel tests do not disturb each other.
enum TestFaults {
  /// The maximum number of faults of a token.
  static let maximumCount = 16
  /// The longest delay and lifetime of a fault, in seconds.
  private static let longest = 86_400.0

  static func list(_ body: inout TestRequestBody, token: String) throws(Problem) -> [Fault] {
    guard let entries = try body.objects("faults", atMost: maximumCount) else {
      throw TestRequestBody.problem("faults", "is missing: expected an array, which is empty for no fault")
    }
    try body.end()
    var faults: [Fault] = []
    for (index, entry) in entries.enumerated() {
      let read = try rule(entry, place: index + 1, token: token)
      do throws(FaultError) {
        faults.append(try Fault(read))
      } catch {
        throw TestRequestBody.problem("faults[\(index)]", error.description)
      }
    }
    return faults
  }

  /// Reads the entry of one fault. Its name is its number in the list by default.
  private static func rule(_ entry: TestRequestBody, place: Int, token: String) throws(Problem) -> FaultRule {
    var entry = entry
    var rule = FaultRule(name: try entry.text("name") ?? String(place))
    rule.token = token
    rule.reason = try entry.text("reason")
    rule.status = try entry.integer("status", in: 200...599)
    rule.retryAfter = try entry.integer("retry-after", in: 1...Int(longest))
    rule.delay = try entry.duration("delay", atMost: longest).map { $0 / .seconds(1) }
    rule.reset = try entry.text("reset")
    rule.goaway = try entry.text("goaway")
    rule.drop = try entry.boolean("drop")
    rule.halfOpen = try entry.boolean("half-open")
    rule.stall = try entry.boolean("stall")
    rule.streams = try entry.integer("streams", in: 0...Limits.maximumConcurrentStreams)
    rule.throttle = try entry.integer("throttle", in: 0...1_000_000)
    rule.unregister = try entry.boolean("unregister")
    rule.count = try entry.integer("count", in: 1...1_000_000)
    rule.rate = try entry.number("rate", in: 0...100)
    rule.seed = try entry.integer("seed", in: 0...Int.max).map { UInt64($0) }
    rule.seconds = try entry.duration("for", atMost: longest).map { $0 / .seconds(1) }
    try entry.end()
    return rule
  }
}
