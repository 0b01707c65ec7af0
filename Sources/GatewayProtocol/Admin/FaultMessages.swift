/// A fault as written in a scenario file, on the command line, or over the admin socket
/// (docs/send/test-error-handling.md).
///
/// A selector that is nil matches everything. ``Fault`` is the validated form.
package struct FaultRule: Codable, Sendable, Equatable {
  /// The name in lists and logs; a second rule of the same name replaces the first.
  package var name: String

  /// The bundle id of the app that receives the push.
  package var app: String?
  /// The device token, in hex.
  package var token: String?
  /// The key id of the provider token.
  package var key: String?
  /// The peer's address, as `127.0.0.1`, or the connection's number.
  package var connection: String?

  /// A reason of ``Reason``, which is sent with its status, unless ``status`` has another.
  package var reason: String?
  /// An HTTP status; without a reason the response has no body.
  package var status: Int?
  /// The seconds in the field `retry-after` of an answer with a reason.
  package var retryAfter: Int?
  /// The delay of the response, or of the other effect, in seconds.
  package var delay: Double?
  /// RST_STREAM with this code: a name of RFC 9113 §7 or a number.
  package var reset: String?
  /// GOAWAY with this reason, while the request is in flight.
  package var goaway: String?
  /// True to end the connection with a TCP reset.
  package var drop: Bool?
  /// True to stop reading and writing, but keep the socket.
  package var halfOpen: Bool?
  /// True to give no flow-control credit for bodies.
  package var stall: Bool?
  /// The maximum number of streams that the peer may have open.
  package var streams: Int?
  /// The maximum number of requests per second; further ones get `TooManyRequests`.
  package var throttle: Int?
  /// True to unregister the device token, and answer accordingly.
  package var unregister: Bool?

  /// The maximum number of times that the fault is injected.
  package var count: Int?
  /// The percentage of matching requests into which the fault is injected.
  package var rate: Double?
  /// The seed that makes the selection of ``rate`` reproducible.
  package var seed: UInt64?
  /// The time in seconds for which the fault is in effect.
  package var seconds: Double?

  package init(name: String) { self.name = name }

  package enum CodingKeys: String, CodingKey, CaseIterable {
    case name, app, token, key, connection
    case reason, status, delay, reset, goaway, drop, stall, streams, throttle, unregister
    case halfOpen = "half-open"
    case retryAfter = "retry-after"
    case count, rate, seed
    case seconds = "for"
  }
}

/// A fault as lists show it.
package struct FaultRecord: Codable, Sendable {
  /// The rule, unchanged.
  package var rule: FaultRule
  /// A description of the effect.
  package var does: String
  /// The number of times that the fault was injected.
  package var injections: Int
  /// True if the fault may be injected again.
  package var isActive: Bool
  /// The number of remaining injections; nil: unlimited.
  package var left: Int?
  /// The remaining time in seconds; nil: until the fault is cleared.
  package var secondsLeft: Double?

  package init(
    rule: FaultRule, does: String, injections: Int, isActive: Bool, left: Int? = nil, secondsLeft: Double? = nil
  ) {
    self.rule = rule
    self.does = does
    self.injections = injections
    self.isActive = isActive
    self.left = left
    self.secondsLeft = secondsLeft
  }

  package enum CodingKeys: String, CodingKey {
    case rule, does, left
    case injections = "hits"
    case isActive = "active"
    case secondsLeft = "seconds_left"
  }
}
