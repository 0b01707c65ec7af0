import GatewayProtocol
import PushCore

/// A notice for the device streams of other gateways, as the values of NATS headers.
struct ClusterNotice: Equatable {
  private enum Content: Equatable {
    /// A push must no longer be shown.
    ///
    /// - topic: the topic of a push that its sender retracted; nil for other removals.
    /// - answer: the answer that removes the push from other devices, if there is one.
    case removed(APNSID, topic: String?, answer: GivenAnswer?)
    case acknowledged(UInt64)
  }

  private let content: Content

  private static let acknowledged = "acknowledged"

  /// Returns nil for notices that other gateways do not need.
  init?(_ notice: DeviceNotice) {
    switch notice {
    case .retract(let id): content = .removed(id, topic: nil, answer: nil)
    case .answered(let id, let answer): content = .removed(id, topic: nil, answer: answer)
    case .takenBack(let id, let topic): content = .removed(id, topic: topic, answer: nil)
    case .acknowledged(let seq): content = .acknowledged(seq)
    case .preferences, .channels, .revoked, .cutOff: return nil
    }
  }

  /// Parses `ID`, `ID TOPIC` or `acknowledged SEQ`, and for an answer `ACTION person NAME` or `ACTION device NAME`.
  init?(header: String, answerHeader: String? = nil) {
    let parts = header.split(separator: " ", maxSplits: 1).map(String.init)
    guard let first = parts.first else { return nil }
    if first == ClusterNotice.acknowledged {
      guard parts.count > 1, let seq = UInt64(parts[1]) else { return nil }
      content = .acknowledged(seq)
      return
    }
    guard let id = APNSID(first) else { return nil }
    let topic = parts.count > 1 ? parts[1] : nil
    content = .removed(
      id, topic: topic, answer: topic == nil ? answerHeader.flatMap(ClusterNotice.answer(header:)) : nil)
  }

  private static func answer(header: String) -> GivenAnswer? {
    let words = header.split(separator: " ", maxSplits: 2).map(String.init)
    guard let action = words.first else { return nil }
    let name = words.count > 2 ? words[2] : nil
    return GivenAnswer(
      action: action, person: words.dropFirst().first == "person" ? name : nil,
      device: words.dropFirst().first == "device" ? name : nil)
  }

  var header: String {
    switch content {
    case .removed(let id, let topic, _): topic.map { "\(id) \($0)" } ?? "\(id)"
    case .acknowledged(let seq): "\(ClusterNotice.acknowledged) \(seq)"
    }
  }

  /// The header of the answer, in addition to ``header``; nil for a notice without an answer.
  var answerHeader: String? {
    guard case .removed(_, _, let answer?) = content else { return nil }
    let name = answer.person.map { " person \($0)" } ?? answer.device.map { " device \($0)" } ?? ""
    return answer.action + name
  }

  var notice: DeviceNotice {
    switch content {
    case .removed(let id, let topic?, _): .takenBack(id, topic: topic)
    case .removed(let id, nil, let answer?): .answered(id, answer)
    case .removed(let id, nil, nil): .retract(id)
    case .acknowledged(let seq): .acknowledged(seq)
    }
  }
}
