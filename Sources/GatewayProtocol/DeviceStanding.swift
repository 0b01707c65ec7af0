package import PushPolicy

/// The standing of an app as devices show it, in an app of `welcome`.
package struct DeviceStanding: Sendable, Equatable {
  /// The facts; their number of users with a report is not sent.
  package var facts: Standing
  /// The time until which the app's alerts go to the summary (N11), RFC 3339, UTC; nil: they do not.
  package var summaryUntil: String?

  package init(_ facts: Standing, summaryUntil: String? = nil) {
    (self.facts, self.summaryUntil) = (facts, summaryUntil)
    self.facts.reporters = 0
  }

  /// Reads the output of ``appendJSON(to:)``.
  package init(_ element: JSONElement) {
    facts = Standing()
    facts.presented = element["presented"]?.count ?? 0
    facts.viewed = element["viewed"]?.count ?? 0
    facts.closed = element["closed"]?.count ?? 0
    facts.reported = element["reported"]?.count ?? 0
    facts.unsubscribed = element["unsubscribed"]?.count ?? 0
    summaryUntil = element["summary_until"]?.string
  }

  package func appendJSON(to bytes: inout [UInt8]) {
    bytes += #"{"presented":\#(facts.presented),"viewed":\#(facts.viewed),"closed":\#(facts.closed)"#.utf8
    bytes += #","reported":\#(facts.reported),"unsubscribed":\#(facts.unsubscribed)"#.utf8
    if let summaryUntil {
      bytes += #","summary_until":"#.utf8
      appendJSONString(summaryUntil, to: &bytes)
    }
    bytes.append(UInt8(ascii: "}"))
  }
}
