extension DeliveryDetail {
  /// The text for users; empty for ``nothing``.
  package var words: String {
    switch self {
    case .nothing: ""
    case .fact(let fact): fact.words
    case .asked(let asked): asked.description
    case .removed(let removals): removals.map(\.description).joined(separator: "; ")
    case .finding(let finding): finding.words
    case .refusal(let refusal): refusal.words
    case .forwarding(let forwarding): forwarding.words
    case .channel(let channel): "channel \(channel)"
    case .held(let count): "\(count) held"
    case .scheduled(let time): "for \(time)"
    case .repeated(let count): "\(count) equal messages"
    case .presented(let parts): parts.joined(separator: " ")
    case .answered(let action): action
    case .fault(let name, let effect): "\(name): \(effect)"
    case .trace(let parent): parent
    case .takenBack(let sender): "by \(sender)"
    case .lost(let count, let time): "\(count) \(count == 1 ? "event was" : "events were") not logged since \(time)"
    case .words(let words): words
    }
  }

  /// Reads a row of a version that stored texts instead of facts; these texts are the same as ``words``.
  ///
  /// - Parameter event: The event of the row, which determines the possible texts.
  package init(words: String, of event: String) {
    self = DeliveryDetail.parsed(words, event) ?? (words.isEmpty ? .nothing : .words(words))
  }

  private static func parsed(_ words: String, _ event: String) -> DeliveryDetail? {
    switch event {
    case "presented":
      return .presented(words.split(separator: " ", omittingEmptySubsequences: true).map(String.init))
    case "action", "closed": return words.isEmpty ? nil : .answered(words)
    case "refused", "ignored": return Finding(words: words).map { .finding($0) }
    case "fault":
      let fields = words.split(separator: ": ", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      return fields.count == 2 ? .fault(name: fields[0], effect: fields[1]) : nil
    case "transmitted": return RequestedPresentation(words).map { .asked($0) }
    case "suppressed":
      let removals = Decision.Removal.list(words)
      return removals.isEmpty ? nil : .removed(removals)
    default:
      if words.hasPrefix("channel ") { return .channel(String(words.dropFirst(8))) }
      if words.hasSuffix(" held") { return Int(words.dropLast(5)).map { .held($0) } }
      return Fact.allCases.first { $0.words == words }.map { .fact($0) }
    }
  }
}

extension DeliveryDetail.Refusal {
  fileprivate var words: String {
    var parts = ["\(status) \(reason)"]
    if let keyID { parts.append("key \(keyID)") }
    if let team { parts.append("team \(team)") }
    let answer = parts.joined(separator: ", ")
    return finding.map { "\($0.words); \(answer)" } ?? answer
  }
}

extension DeliveryDetail.Forwarding {
  fileprivate var words: String {
    let answer = ["\(status)", reason].compactMap(\.self).joined(separator: " ")
    var parts = [isUnanswered ? "\(answer), no answer of \(upstream)" : "\(answer) of \(upstream)"]
    if let keyID { parts.append("key \(keyID)") }
    if let team { parts.append("team \(team)") }
    return parts.joined(separator: ", ")
  }
}

extension DeliveryDetail.Finding {
  fileprivate var words: String {
    "\(isReportOnly ? DeliveryDetail.Finding.mark : "")\(rule) \(pointer): \(message)\(evidence.map { " \($0)" } ?? "")"
  }

  /// Reads a text; the evidence remains a part of the message.
  fileprivate init?(words: String) {
    let isReportOnly = words.hasPrefix(Self.mark)
    let rest = words.dropFirst(isReportOnly ? Self.mark.count : 0)
    guard let space = rest.firstIndex(of: " "), let colon = rest.firstRange(of: ": "), space < colon.lowerBound
    else { return nil }
    self.init(
      rule: String(rest[..<space]), pointer: String(rest[rest.index(after: space)..<colon.lowerBound]),
      message: String(rest[colon.upperBound...]), isReportOnly: isReportOnly)
  }

  private static let mark = "report only: "
}
