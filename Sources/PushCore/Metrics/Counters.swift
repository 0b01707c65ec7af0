import Synchronization

/// A number that only increases; any thread can increase and read it.
///
/// The memory order is relaxed, because counting orders no other operations; an addition is one instruction. Frequent
/// events are counted with one counter for each event loop, because two cores that write one counter in turn wait for
/// each other.
package struct Counter: ~Copyable, Sendable {
  private let cell = Atomic<UInt64>(0)

  package init() {}

  package var total: UInt64 { cell.load(ordering: .relaxed) }

  package func add(_ number: UInt64 = 1) { cell.wrappingAdd(number, ordering: .relaxed) }
}

/// A fixed number of counters of one metric: one for each value of a label.
///
/// `@unchecked Sendable`: the pointer never changes, and it points to atomics.
@safe package final class Counters: @unchecked Sendable {
  package let count: Int
  private let cells: UnsafeMutablePointer<Atomic<UInt64>>

  /// - Parameter count: the number of counters, more than 0.
  package init(count: Int) {
    self.count = count
    unsafe cells = .allocate(capacity: count)
    for index in 0..<count { unsafe (cells + index).initialize(to: Atomic(0)) }
  }

  deinit {
    unsafe cells.deinitialize(count: count)
    unsafe cells.deallocate()
  }

  /// The totals, in the order of the indices.
  package var totals: [UInt64] { (0..<count).map { unsafe cells[$0].load(ordering: .relaxed) } }

  /// Adds `number` to one counter.
  ///
  /// - Parameter index: less than ``count``.
  package func add(_ number: UInt64 = 1, at index: Int) {
    precondition(index >= 0 && index < count, "there is no counter \(index)")
    unsafe cells[index].wrappingAdd(number, ordering: .relaxed)
  }
}

/// The limits whose hits are counted, as reasons why something was refused or dropped.
package enum ReachedLimit: Int, CaseIterable, Sendable {
  case descriptors, handshakeTime, pingInterval, idleTimeout, bodySize, rate, uncommitted, mailboxCap, streamBacklog,
    lineSize, logBacklog, teamRate, appRate, scheduled, httpConnections,
    deviceReports, deviceAnswers, deviceChanges, personChanges, enrollments, wrongInvitations, failedAuthentications,
    groupPushes, refusalRows, forwards, unverifiedForwards, attachments

  /// The name of the limit for users and in metrics.
  package var label: String { row.label }

  /// The condition of the limit and the response beyond it, for docs/reference/metrics.md.
  package var words: String { row.words }

  /// The table of limits: each case above has one row here.
  private var row: (label: String, words: String) {
    switch self {
    case .descriptors:
      ("descriptors", "fewer descriptors are left than the gateway reserves for itself: accepting pauses")
    case .handshakeTime: ("handshake_time", "a peer took too long for its TLS handshake: its connection was closed")
    case .pingInterval: ("ping_interval", "a device did not answer PINGs: its connection was closed")
    case .idleTimeout: ("idle_timeout", "a connection was silent for too long: it was closed")
    case .bodySize: ("body_size", "the body of a request to the control plane was too large: the request was refused")
    case .rate: ("rate", "a device token, or a channel, was sent more than `rate_limit` allows: `TooManyRequests`")
    case .uncommitted: ("uncommitted", "too many pushes waited for a commit: `ServiceUnavailable`")
    case .mailboxCap:
      ("mailbox_cap", "a device had as many pending pushes as `mailbox_cap` allows: the oldest was evicted")
    case .streamBacklog: ("stream_backlog", "a device had not read its stream: a push that is not stored was dropped")
    case .lineSize: ("line_size", "a device sent a line that was too long: its stream was closed")
    case .logBacklog: ("log_backlog", "the delivery log was too far behind: a row was dropped")
    case .teamRate: ("team_rate", "a team sent more than `team_rate` allows: `TooManyRequests`")
    case .appRate: ("app_rate", "an app was sent more than `app_rate` allows: `TooManyRequests`")
    case .scheduled:
      ("scheduled", "an app, a team or the gateway had the maximum number of scheduled pushes: `TooManyRequests`")
    case .groupPushes:
      ("group_pushes", "the maximum number of pushes to groups was queued for storing: `TooManyRequests`")
    case .deviceReports: ("device_reports", "a device exceeded its report rate: a report was dropped")
    case .deviceAnswers: ("device_answers", "a device sent more answers than a user can give: an answer was dropped")
    case .deviceChanges:
      ("device_changes", "a device registered, subscribed or reported more often than allowed: 429")
    case .personChanges: ("person_changes", "a user's preferences were changed more often than allowed: 429")
    case .enrollments: ("enrollments", "an address enrolled more devices than allowed: 429")
    case .wrongInvitations: ("wrong_invitations", "an address sent too many codes without an invitation: 429")
    case .failedAuthentications:
      ("failed_authentications", "an address sent too many invalid provider tokens: `TooManyRequests`")
    case .refusalRows:
      (
        "refusal_rows",
        "more pushes without a valid credential were refused than are logged: a row of the delivery log was left out"
      )
    case .forwards:
      (
        "forwards",
        "an event loop had the maximum of pushes for the upstream, or no connection for their sender: `ServiceUnavailable`"
      )
    case .unverifiedForwards:
      (
        "unverified_forwards",
        "an address sent too many pushes for the upstream with keys that are unknown here: `TooManyRequests`"
      )
    case .attachments:
      ("attachments", "the attachments of a sender, or of the gateway, had their maximum size: 413 or 507")
    case .httpConnections:
      (
        "http_connections",
        "HTTP/1.1 had the maximum number of connections, or an address began too many with TLS: one was refused, or an idle one was closed for it"
      )
    }
  }
}

/// The number of hits of each limit in one event loop or one part of the storage.
package struct LimitCounters: Sendable {
  private let counters = Counters(count: ReachedLimit.allCases.count)

  package init() {}

  /// The totals, in the order of ``ReachedLimit``.
  package var totals: [UInt64] { counters.totals }

  package func add(_ limit: ReachedLimit, _ number: UInt64 = 1) { counters.add(number, at: limit.rawValue) }
}
