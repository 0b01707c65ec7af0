import PushCore

/// An error of a request to an event target or a push service, as a text for users.
struct EventError: Error, CustomStringConvertible {
  var description: String
}

/// The error of a request that needs a file descriptor while this machine or the gateway has none left.
struct DescriptorShortage: Error, CustomStringConvertible {
  var description: String {
    "the gateway has too many open files: raise its limit with `ulimit -Hn` or LimitNOFILE, and restart it"
  }
}

/// The answer of an event target or a push service to a request.
struct EventAnswer: Sendable, Equatable {
  var status: Int
  /// The value of `retry-after`; nil without the field.
  var retryAfter: String?
  /// The beginning of the body, at most ``Limits/keptEventAnswer`` bytes.
  var body: [UInt8] = []

  /// The consequence of an answer.
  enum Outcome: Sendable, Equatable {
    /// The target has the events.
    case delivered
    /// The same request is sent again, after the pause that the target requests, if it requests one.
    case failed(String, retryAfter: Duration?)
    /// The target accepts no more events (410).
    case gone
  }

  /// Returns the consequence of this answer.
  ///
  /// - Parameter now: seconds since 1970.
  func outcome(at now: Int64) -> Outcome {
    switch status {
    case 200..<300: .delivered
    case 410: .gone
    case 300..<400:
      .failed("it answered \(status): redirects are not followed, name the final address", retryAfter: nil)
    default: .failed("it answered \(status)", retryAfter: pause(now))
    }
  }

  /// Returns the requested pause (RFC 9110 §10.2.3), at most ``Limits/maximumEventPause``; nil without a valid one.
  func pause(_ now: Int64) -> Duration? {
    guard let retryAfter else { return nil }
    let seconds = Int64(retryAfter) ?? EventAnswer.time(retryAfter).map { $0 - now }
    return seconds.map { .seconds(min(max(0, $0), Int64(Limits.maximumEventPause))) }
  }

  private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

  /// Parses a time as `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 §5.6.7).
  ///
  /// - Returns: seconds since 1970; nil for another form.
  static func time(_ text: String) -> Int64? {
    let parts = text.prefix(64).split(separator: " ")
    guard parts.count == 6, parts[5] == "GMT", let month = months.firstIndex(of: String(parts[2])) else { return nil }
    let number = month < 9 ? "0\(month + 1)" : "\(month + 1)"
    return Timestamp.read("\(parts[3])-\(number)-\(parts[1])T\(parts[4])Z".utf8, .seconds).map { $0 / 1000 }
  }
}
