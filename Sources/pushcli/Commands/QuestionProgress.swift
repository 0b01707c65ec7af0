import GatewayProtocol
import PushPolicy

/// What has come of a question: who was asked, and who of them can still answer. A value, fed with rows of the delivery log.
struct QuestionProgress: Sendable {
  /// How a question ends, or the part of those who were asked in it.
  enum Outcome: Equatable, Sendable {
    /// With the action that was picked, and the device on which it was.
    case answered(action: String, device: String)
    /// Closed or viewed, by this event, and no action picked.
    case closed(event: String)
    /// The person's choices let nobody see it.
    case refused(String)
    /// It did not arrive in its time, or nobody answered.
    case expired
  }

  /// Devices that were asked together, as those of a person: where one closes the question all do.
  private var parties: [[String]] = []
  /// How the question ended for a device.
  private var ends: [String: Outcome] = [:]
  /// The answer, which is the first.
  private(set) var answer: Outcome?

  /// Events of the delivery log that say anything here.
  static let events = "action,viewed,closed,suppressed,dropped,expired,collapsed,retracted"

  /// All devices that were asked.
  var devices: [String] { parties.flatMap { $0 } }

  /// These are asked from now on.
  mutating func ask(_ devices: [String]) { parties.append(devices) }

  /// A device is not asked, since its person refuses.
  mutating func refuse(_ device: String, _ words: String) { ends[device] = .refused(words) }

  /// Takes the next row of the log.
  mutating func take(_ record: LogRecord) {
    guard let device = record.device, let party = parties.first(where: { $0.contains(device) }) else { return }
    switch record.event {
    case "action": answer = answer ?? .answered(action: record.detail ?? "", device: device)
    case "viewed", "closed", "retracted": for device in party { ends[device] = .closed(event: record.event) }
    case "suppressed":
      guard case .removed(let removals) = record.facts,
        let removal = removals.first(where: { $0.part == .alert && $0.isRefusal })
      else { return }
      ends[device] = ends[device] ?? .refused(Refused(removal).words)
    default: ends[device] = ends[device] ?? .expired
    }
  }

  /// How it ended, where nobody who was asked can answer any longer; nil while somebody can.
  var end: Outcome? {
    if let answer { return answer }
    let found = devices.map { ends[$0] }
    guard !found.isEmpty, !found.contains(where: { $0 == nil }) else { return nil }
    // Somebody saw it; else it is of use to know why nobody did.
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
