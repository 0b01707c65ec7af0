import GatewayProtocol
import PushPolicy

/// The progress of a question: the devices that were asked, and the devices that can still answer. A value, updated
/// with rows of the delivery log.
struct QuestionProgress: Sendable {
  /// The outcome of a question, for all recipients or for one of them.
  enum Outcome: Equatable, Sendable {
    /// Answered with the chosen action, on this device.
    case answered(action: String, device: String)
    /// Closed or viewed, by this event, without an action.
    case closed(event: String)
    /// Refused by the user's preferences, so that no device shows it.
    case refused(String)
    /// Expired: not delivered in time, or not answered.
    case expired
  }

  /// Groups of devices that were asked together, such as those of a user: if one of them closes the question, it is
  /// closed on all.
  private var parties: [[String]] = []
  /// The outcome for each device.
  private var ends: [String: Outcome] = [:]
  private(set) var answer: Outcome?

  /// The events of the delivery log that affect a question.
  static let events = "action,viewed,closed,suppressed,dropped,expired,collapsed,retracted"

  /// All devices that were asked.
  var devices: [String] { parties.flatMap { $0 } }

  /// Adds devices that were asked together.
  mutating func ask(_ devices: [String]) { parties.append(devices) }

  /// Notes that a device is not asked, since its user's preferences refuse the question.
  mutating func refuse(_ device: String, _ words: String) { ends[device] = .refused(words) }

  /// Updates the progress with the next row of the log.
  mutating func take(_ record: LogRecord) {
    guard let device = record.device, let party = parties.first(where: { $0.contains(device) }) else { return }
    switch record.event {
    case "action": answer = answer ?? .answered(action: record.detail ?? "", device: device)
    case "viewed", "closed", "retracted": for device in party { ends[device] = .closed(event: record.event) }
    case "suppressed":
      guard case .removed(let removals) = record.facts,
        let removal = removals.first(where: { $0.part == .alert && $0.isRefusal })
      else { return }
      ends[device] = ends[device] ?? .refused(removal.refusalWords)
    default: ends[device] = ends[device] ?? .expired
    }
  }

  /// The outcome, if no device that was asked can answer any longer; nil otherwise.
  var end: Outcome? {
    if let answer { return answer }
    let found = devices.map { ends[$0] }
    guard !found.isEmpty, !found.contains(where: { $0 == nil }) else { return nil }
    // The best outcome: first that it was seen, then the reason why it was not.
    return found.compactMap(\.self).max { QuestionProgress.rank($0) < QuestionProgress.rank($1) }
  }

  private static func rank(_ outcome: Outcome) -> Int {
    switch outcome {
    case .expired: 0
    case .refused: 1
    case .closed: 2
    case .answered: 3
    }
  }
}
