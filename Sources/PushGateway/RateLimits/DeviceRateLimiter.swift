import HTTP2Transport
import PushCore
import Synchronization

/// The rate limits of one device or user, which protect the delivery log, the disk and the time of other users.
///
/// Kept in memory only. They do not limit pushes, only reports, requests and changes of devices.
final class DeviceRateLimiter: Sendable {
  /// Reports of devices about pushes, each of which becomes a row of the delivery log.
  private let reports = Mutex(TokenBuckets<DeviceID>(Limits.deviceReports))
  private let answers = Mutex(TokenBuckets<DeviceID>(Limits.deviceAnswers))
  private let personChanges = Mutex(TokenBuckets<PersonID>(Limits.personChanges))
  private let deviceChanges = Mutex(TokenBuckets<DeviceID>(Limits.deviceChanges))
  private let enrollments = AddressRateLimiter(remote: Limits.enrollments, local: Limits.localEnrollments)
  private let wrongCodes = AddressRateLimiter(remote: Limits.wrongInvitations, local: Limits.wrongInvitations)
  /// The number of refusals by each limit.
  let limits = LimitCounters()
  private let searches = Mutex<Set<DeviceID>>([])
  /// The log messages about refusals: one in 60,000 milliseconds.
  private let refusals = Mutex(LogRateLimiter<LoggedEvent>(count: 1, interval: 60_000))

  /// Counts a report of a device; false if it exceeds the limit and must not be logged.
  ///
  /// - Parameter now: milliseconds since 1970.
  func allowsReport(_ device: DeviceID, at now: Int64) -> Bool {
    count(.deviceReports, reports.withLock { $0.take(device, at: now) })
  }

  /// Counts an answer of a device; false if it exceeds the limit and must not be accepted.
  ///
  /// - Parameter now: milliseconds since 1970.
  func allowsAnswer(_ device: DeviceID, at now: Int64) -> Bool {
    count(.deviceAnswers, answers.withLock { $0.take(device, at: now) })
  }

  /// Counts a change of a user's preferences; false if it exceeds the limit.
  ///
  /// - Parameter now: milliseconds since 1970.
  func allowsChange(_ person: PersonID, at now: Int64) -> Bool {
    count(.personChanges, personChanges.withLock { $0.take(person, at: now) })
  }

  /// Counts a registration, subscription or report of a device; false if it exceeds the limit.
  ///
  /// - Parameter now: milliseconds since 1970.
  func allowsChange(_ device: DeviceID, at now: Int64) -> Bool {
    count(.deviceChanges, deviceChanges.withLock { $0.take(device, at: now) })
  }

  /// Counts an enrollment that no administrator requested; false if it exceeds the limit.
  ///
  /// - Parameter now: milliseconds since 1970.
  func allowsEnrollment(from source: UnauthenticatedConnections.Source, at now: Int64) -> Bool {
    count(.enrollments, enrollments.take(source, at: now))
  }

  /// Returns true if the source may try another invitation code.
  ///
  /// - Parameter now: milliseconds since 1970.
  func allowsCode(from source: UnauthenticatedConnections.Source, at now: Int64) -> Bool {
    count(.wrongInvitations, wrongCodes.has(source, at: now))
  }

  /// Counts a code that belongs to no invitation.
  ///
  /// - Parameter now: milliseconds since 1970.
  func noteWrongCode(from source: UnauthenticatedConnections.Source, at now: Int64) { wrongCodes.take(source, at: now) }

  private func count(_ limit: ReachedLimit, _ isAllowed: Bool) -> Bool {
    if !isAllowed { limits.add(limit) }
    return isAllowed
  }

  /// Counts a refusal.
  ///
  /// - Parameter now: milliseconds since 1970.
  /// - Returns: the number of refusals to report, at most once a minute; nil in between.
  func noteRefusal(at now: Int64) -> Int? {
    refusals.withLock { $0.note(.deviceBudgetMet, at: now) }.map { $0 + 1 }
  }

  /// Begins a search of the delivery log for a device; false while another search of the device runs.
  ///
  /// After true, the caller must call ``endSearch(_:)``.
  func beginSearch(_ device: DeviceID) -> Bool { searches.withLock { $0.insert(device).inserted } }

  func endSearch(_ device: DeviceID) { searches.withLock { _ = $0.remove(device) } }
}
