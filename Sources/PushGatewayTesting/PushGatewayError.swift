/// A gateway that can't be started or reached, or a request that it refused.
public struct PushGatewayError: Error, Sendable, Equatable, CustomStringConvertible {
  public let description: String

  init(_ description: String) { self.description = description }
}

/// An expectation that failed. The description has the nearest pushes, field by field.
public struct PushExpectationFailure: Error, Sendable, Equatable, CustomStringConvertible {
  /// A field of a push that differs from the expectation.
  public struct Difference: Sendable, Equatable, Decodable {
    public let field: String
    /// The expected value; nil for none.
    public let expected: JSONValue?
    /// The value of the push; nil for none.
    public let found: JSONValue?
  }

  /// A push that does not meet the expectation.
  public struct Nearest: Sendable, Equatable, Decodable {
    public let push: RecordedPush
    public let differences: [Difference]
    /// The reason of its refusal, or the rule by which a part was suppressed, in words.
    public let cause: String?
  }

  /// The answer of the test API.
  struct Answer: Decodable {
    let detail: String
    let recorded: Int
    let pushes: [RecordedPush]
    let nearest: [Nearest]
  }

  /// The expected and the found number of pushes, in words.
  public let detail: String
  /// The pushes that meet the expectation: too few or too many.
  public let matched: [RecordedPush]
  /// The others with the fewest differences.
  public let nearest: [Nearest]
  /// The file and the line of the expectation.
  public let location: String
  private let isSilent: Bool

  init(_ answer: Answer, at location: String) {
    (detail, matched, nearest) = (answer.detail, answer.pushes, answer.nearest)
    isSilent = answer.recorded == 0
    self.location = location
  }

  /// The failure in several lines.
  public var description: String {
    var lines = ["\(location): \(detail)"]
    if isSilent {
      lines.append("  no push was recorded: check that the sender uses the URL of the test gateway and this token")
    }
    for push in matched { lines.append("  \(push.summary): as expected") }
    for near in nearest {
      lines.append("  \(near.push.summary):")
      if let cause = near.cause { lines.append("    \(cause)") }
      for difference in near.differences {
        let (expected, found) = (difference.expected.words, difference.found.words)
        lines.append("    \(difference.field): expected \(expected), found \(found)")
      }
    }
    return lines.joined(separator: "\n")
  }
}

extension JSONValue? {
  fileprivate var words: String { self?.description ?? "no value" }
}
