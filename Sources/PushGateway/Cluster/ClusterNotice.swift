import GatewayProtocol
import PushCore

/// A notice for the device streams of other gateways, as the values of NATS headers.
struct ClusterNotice: Equatable {
  private var id: APNSID
  /// The topic of a push that its sender retracted; nil for other removals.
  private var topic: String?
  /// The answer that removes the push from other devices, if there is one.
  private var answer: GivenAnswer?

  /// Returns nil for notices that other gateways do not need.
  init?(_ notice: DeviceNotice) {
    switch notice {
    case .retract(let id): self.id = id
    case .answered(let id, let answer): (self.id, self.answer) = (id, answer)
    case .takenBack(let id, let topic): (self.id, self.topic) = (id, topic)
    case .preferences, .acknowledged, .channels, .revoked, .cutOff: return nil
    }
  }

  /// Parses `ID` or `ID TOPIC`, and for an answer `ACTION person NAME` or `ACTION device NAME`.
  init?(header: String, answerHeader: String? = nil) {
    let parts = header.split(separator: " ", maxSplits: 1).map(String.init)
    guard let first = parts.first, let id = APNSID(first) else { return nil }
    (self.id, topic) = (id, parts.count > 1 ? parts[1] : nil)
    let words = answerHeader?.split(separator: " ", maxSplits: 2).map(String.init) ?? []
    guard topic == nil, let action = words.first else { return }
    let name = words.count > 2 ? words[2] : nil
    answer = GivenAnswer(
      action: action, person: words.dropFirst().first == "person" ? name : nil,
      device: words.dropFirst().first == "device" ? name : nil)
  }

  var header: String { topic.map { "\(id) \($0)" } ?? "\(id)" }

  /// The header of the answer, in addition to ``header``; nil for a notice without an answer.
  var answerHeader: String? {
    guard let answer else { return nil }
    let name = answer.person.map { " person \($0)" } ?? answer.device.map { " device \($0)" } ?? ""
    return answer.action + name
  }

  var notice: DeviceNotice {
    if let topic { return .takenBack(id, topic: topic) }
    return answer.map { .answered(id, $0) } ?? .retract(id)
  }
}
