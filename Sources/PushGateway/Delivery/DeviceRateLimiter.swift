import HTTP2Transport
import PushCore
import Synchronization

/// What one device, or one person, may have the gateway do: so that nobody takes the log, the disk or the others' time.
///
/// Kept in memory only. No push comes by here: only what a device says, asks and changes.
final class DeviceRateLimiter: Sendable {
  /// What a device says of pushes, which becomes a row of the delivery log each.
  private let reports = Mutex(TokenBuckets<DeviceID>(Limits.deviceReports))
  private let answers = Mutex(TokenBuckets<DeviceID>(Limits.deviceAnswers))
  private let personChanges = Mutex(TokenBuckets<PersonID>(Limits.personChanges))
  private let deviceChanges = Mutex(TokenBuckets<DeviceID>(Limits.deviceChanges))
  private let enrollments = AddressRateLimiter(strangers: Limits.enrollments, local: Limits.localEnrollments)
  private let wrongCodes = AddressRateLimiter(strangers: Limits.wrongInvitations, local: Limits.wrongInvitations)
  /// How often each was at its end.
  let limits = LimitCounters()
  private let searches = Mutex<Set<DeviceID>>([])
  private let refused = Mutex((count: 0, isToldAt: Int64.min))

  /// How often it is told what was refused, in milliseconds.
  private static let interval: Int64 = 60_000

  /// Counts a report of a device; false when it is one too many, and is not to be logged.
  ///
  /// - Parameter now: milliseconds since 1970.
  func allowsReport(_ device: DeviceID, at now: Int64) -> Bool {
    count(.deviceReports, reports.withLock { $0.take(device, at: now) })
  }

  /// Counts an answer of a device; false when it is one too many, and is not to be believed.
  ///
  /// - Parameter now: milliseconds since 1970.
  func allowsAnswer(_ device: DeviceID, at now: Int64) -> Bool {
    count(.deviceAnswers, answers.withLock { $0.take(device, at: now) })
  }

  /// Counts a change of a person's choices; false when it is one too many.
  ///
  /// - Parameter now: milliseconds since 1970.
  func allowsChange(_ person: PersonID, at now: Int64) -> Bool {
    count(.personChanges, personChanges.withLock { $0.take(person, at: now) })
  }

  /// Counts a registration, subscription or report of a device; false when it is one too many.
  ///
  /// - Parameter now: milliseconds since 1970.
  func allowsChange(_ device: DeviceID, at now: Int64) -> Bool {
    count(.deviceChanges, deviceChanges.withLock { $0.take(device, at: now) })
  }

  /// Counts an enrollment that no administrator asked for; false when it is one too many.
  ///
  /// - Parameter now: milliseconds since 1970.
  func allowsEnrollment(from source: UnauthenticatedConnections.Source, at now: Int64) -> Bool {
    count(.enrollments, enrollments.take(source, at: now))
  }

  /// Whether another code of an invitation is looked at.
  ///
  /// - Parameter now: milliseconds since 1970.
  func allowsCode(from source: UnauthenticatedConnections.Source, at now: Int64) -> Bool {
    count(.wrongInvitations, wrongCodes.has(source, at: now))
  }

  /// Counts a code of no invitation.
  ///
  /// - Parameter now: milliseconds since 1970.
  func noteWrongCode(from source: UnauthenticatedConnections.Source, at now: Int64) { wrongCodes.take(source, at: now) }

  private func count(_ limit: ReachedLimit, _ isAllowed: Bool) -> Bool {
    if !isAllowed { limits.add(limit) }
    return isAllowed
  }

  /// Counts what was refused.
  ///
  /// - Returns: how much that is, once a minute; nil in between.
  func noteRefusal(at now: Int64) -> Int? {
    refused.withLock { refused in
      refused.count += 1
      // A clock that went back tells at once, rather than never.
      guard refused.isToldAt == .min || abs(now - refused.isToldAt) >= DeviceRateLimiter.interval else { return nil }
      defer { refused = (0, now) }
      return refused.count
    }
  }

  /// Begins a search of the delivery log for a device; false while another of the device goes on.
  ///
  /// After true, ``endSearch(_:)`` is to follow.
  func beginSearch(_ device: DeviceID) -> Bool { searches.withLock { $0.insert(device).inserted } }

  func endSearch(_ device: DeviceID) { searches.withLock { _ = $0.remove(device) } }
}
