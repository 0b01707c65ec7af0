/// A fault as people write it: in a scenario file, on the command line, over the admin socket (docs/faults.md).
///
/// Selectors that are absent fit everything. ``Fault`` is what is left of it when it has been checked.
package struct FaultRule: Codable, Sendable, Equatable {
  /// How lists and logs name it; a second one of the same name takes the place of the first.
  package var name: String

  /// The bundle id of what is pushed to.
  package var app: String?
  /// The device token, in hex.
  package var token: String?
  /// The key id of the provider token.
  package var key: String?
  /// The peer's address, as `127.0.0.1`, or the connection's number.
  package var connection: String?

  /// A reason of the table, which is answered with its status, unless ``status`` says another.
  package var reason: String?
  /// An HTTP status; without a reason it is answered with no body.
  package var status: Int?
  /// Seconds that the answer, or the other effect, is late.
  package var delay: Double?
  /// RST_STREAM with this code: a name of RFC 9113 §7 or a number.
  package var reset: String?
  /// GOAWAY with this reason, while the request is in flight.
  package var goaway: String?
  /// Ends the connection with a TCP reset.
  package var drop: Bool?
  /// Reads and writes no more, and keeps the socket.
  package var halfOpen: Bool?
  /// Gives no flow control credit for bodies.
  package var stall: Bool?
  /// Streams that the peer may have open.
  package var streams: Int?
  /// Requests a second; more get `TooManyRequests`.
  package var throttle: Int?
  /// Unregisters the device token, and says so.
  package var unregister: Bool?

  /// How often it strikes at most.
  package var count: Int?
  /// How many of a hundred requests it strikes.
  package var rate: Double?
  /// Makes the choice of a rate the same every time.
  package var seed: UInt64?
  /// For how many seconds it is there.
  package var seconds: Double?

  package init(name: String) { self.name = name }

  package enum CodingKeys: String, CodingKey, CaseIterable {
    case name, app, token, key, connection
    case reason, status, delay, reset, goaway, drop, stall, streams, throttle, unregister
    case halfOpen = "half-open"
    case count, rate, seed
    case seconds = "for"
  }
}

/// A fault as it is listed.
package struct FaultRecord: Codable, Sendable {
  /// As it was set.
  package var rule: FaultRule
  /// What it does, in words.
  package var does: String
  /// How often it struck.
  package var strikes: Int
  /// Whether it may strike again.
  package var isActive: Bool
  /// How often it still strikes; nil: any number of times.
  package var left: Int?
  /// How long it is still there; nil: until it is cleared.
  package var secondsLeft: Double?

  package init(
    rule: FaultRule, does: String, strikes: Int, isActive: Bool, left: Int? = nil, secondsLeft: Double? = nil
  ) {
    self.rule = rule
    self.does = does
    self.strikes = strikes
    self.isActive = isActive
    self.left = left
    self.secondsLeft = secondsLeft
  }

  package enum CodingKeys: String, CodingKey {
    case rule, does, left
    case strikes = "hits"
    case isActive = "active"
    case secondsLeft = "seconds_left"
  }
}
