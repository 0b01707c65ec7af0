/// Finds problems in payload files: JSON syntax, the schema of `aps`, the rules that the gateway enforces, and the
/// texts.
///
/// It reuses its parser for the next file. Only one thread may use it at a time.
package final class PayloadLint {
  private let parser = JSONParser()
  private let width: (String) -> Int
  /// The detector, made for the first alert, because its tables take some milliseconds.
  private lazy var detector = AdDetector()

  /// The maximum size of a payload in bytes.
  private let maximumSize: Int
  /// The maximum number of actions in an action sheet (X4).
  private static let maximumActions = 4

  /// - Parameters:
  ///   - maximumSize: the maximum size of a payload in bytes, which depends on the push type.
  ///   - width: returns the number of terminal columns of a text.
  package init(maximumSize: Int = 4096, width: @escaping (String) -> Int) {
    (self.maximumSize, self.width) = (maximumSize, width)
  }

  /// Returns all findings of one file, as far as possible in the order of the payload.
  ///
  /// A file with `actions` or `categories` at the top level contains an app's categories; any other file is a
  /// payload.
  package func findings(in bytes: [UInt8]) -> [LintFinding] {
    var findings: [LintFinding] = []
    let payload: ParsedPayload
    do {
      payload = try parser.payload(bytes.span)
    } catch {
      let message =
        switch error {
        case .empty: "the file is empty"
        case .notJSON(let words): "invalid JSON: \(words)"
        case .notAnObject: "the file is not a JSON object"
        }
      return [LintFinding(.json, at: "", message, advice: #"{"aps":{…}}"#, severity: .error)]
    }
    for violation in payload.violations {
      findings.append(
        LintFinding(LintRule(violation.rule), at: violation.pointer, violation.message, advice: "", severity: .error))
    }
    // A value that a rule refuses also has a wrong type; it is reported once.
    let refused = Set(payload.violations.map(\.pointer))
    for fault in payload.faults where !refused.contains(fault.pointer) {
      findings.append(LintFinding(.aps, at: fault.pointer, fault.message, advice: "", severity: .error))
    }
    if !payload.isMarketing, let alert = payload.notification.alert { findings += advertising(of: alert) }
    _ = try? parser.parse(bytes.span) { root in
      if root["actions"] != nil && root["aps"] == nil {
        read(category: root, at: "", into: &findings)
      } else if let categories = root["categories"], root["aps"] == nil {
        var index = 0
        categories.forEachElement { category in
          read(category: category, at: "/categories/\(index)", into: &findings)
          index += 1
        }
      } else {
        read(payload: root, size: bytes.count, into: &findings)
      }
    }
    return findings
  }

  // MARK: Payloads

  /// Returns the findings of texts that the gateway would refuse or suppress as advertising, if the app's mode is to
  /// refuse it.
  private func advertising(of alert: PushNotification.Alert) -> [LintFinding] {
    let consequence: String
    switch detector.assess(alert) {
    case .pass: return []
    case .hold: consequence = "this may be advertising: alert and sound are suppressed"
    case .refuse: consequence = "this is advertising: the push is refused"
    }
    let evidence = detector.violation(of: alert).evidence.joined(separator: ", ")
    return [
      LintFinding(
        .a9, at: "/aps/alert", "\(consequence) unless the user has allowed it (\(evidence))",
        advice: #"the requested content without an offer, or "marketing": true beside aps"#)
    ]
  }

  private func read(payload root: JSONElement, size: Int, into findings: inout [LintFinding]) {
    guard let aps = root["aps"] else {
      findings.append(
        LintFinding(.aps, at: "", "there is no aps: the push has no effect", advice: #"{"aps":{…}}"#))
      return
    }
    if size > maximumSize, root["Simulator Target Bundle"] == nil {
      let message = "the file has \(size) bytes; payloads have at most \(maximumSize)"
      findings.append(LintFinding(.aps, at: "", message, advice: "less, or a reference to it", severity: .error))
    }
    aps.visitMembers { key, _ in
      let name = key.string
      guard !APSSchema.aps.holds(key), !key.requestsVibration else { return }
      let known = APSSchema.aps.name(like: name)
      findings.append(
        LintFinding(
          .aps, at: "/aps/\(name.pointerToken)", "\(name.evidence) is not a key of aps: devices ignore it",
          advice: known.map { $0.evidence } ?? "custom keys beside aps"))
    }
    readSound(aps, into: &findings)
    guard let alert = aps["alert"] else { return }
    let isSilent = aps["interruption-level"]?.string == "passive"
    if let text = alert.string {
      var lint = AlertLint(texts: [text], width: width)
      lint.check(body: text, at: "/aps/alert")
      findings.append(missingTitle("/aps/alert"))
      findings += lint.findings.filter { !(isSilent && $0.rule == .a10) }
    } else if alert.kind == .object {
      read(alert: alert, isSilent: isSilent, into: &findings)
    }
  }

  private func read(alert: JSONElement, isSilent: Bool, into findings: inout [LintFinding]) {
    let (title, subtitle, body) = (alert["title"]?.string, alert["subtitle"]?.string, alert["body"]?.string)
    let button = alert["action-loc-key"]?.string ?? alert["action"]?.string
    let texts = [title, subtitle, body].compactMap(\.self)
    var lint = AlertLint(texts: texts.isEmpty ? [button].compactMap(\.self) : texts, width: width)
    let hasKey = alert["title-loc-key"]?.string != nil || alert["title"]?.kind == .object
    if title?.isEmpty ?? true, !hasKey { findings.append(missingTitle("/aps/alert/title")) }
    if let title { lint.check(title: title, at: "/aps/alert/title") }
    if let body { lint.check(body: body, at: "/aps/alert/body") }
    if let button, !button.isEmpty {
      let pointer = alert["action-loc-key"]?.string != nil ? "/aps/alert/action-loc-key" : "/aps/alert/action"
      lint.check(button: button, at: pointer)
    }
    findings += lint.findings.filter { !(isSilent && $0.rule == .a10) }
  }

  private func missingTitle(_ pointer: String) -> LintFinding {
    LintFinding(
      .t1, at: pointer, "the alert has no title",
      advice: #"{"title":"Train in 5 Minutes"}: a title that needs no message is best"#)
  }

  private func readSound(_ aps: JSONElement, into findings: inout [LintFinding]) {
    guard let sound = aps["sound"] else { return }
    let (name, pointer) =
      sound.kind == .object ? (sound["name"]?.string, "/aps/sound/name") : (sound.string, "/aps/sound")
    guard let name, name != "default", let dot = name.lastIndex(of: ".") else { return }
    let ending = name[name.index(after: dot)...].lowercased()
    guard !["aiff", "aif", "wav", "caf"].contains(ending) else { return }
    findings.append(
      LintFinding(
        .s1, at: pointer, "no device plays .\(ending) files: the default sound comes instead",
        advice: "a name that ends in .aiff, .wav or .caf"))
  }

  // MARK: Categories

  private func read(category: JSONElement, at pointer: String, into findings: inout [LintFinding]) {
    guard let actions = category["actions"] else { return }
    var titles: [String] = []
    actions.forEachElement { titles.append($0["title"]?.string ?? "") }
    if titles.count > PayloadLint.maximumActions {
      findings.append(
        LintFinding(
          .x4, at: pointer + "/actions",
          "the category has \(titles.count) actions: an action sheet shows \(PayloadLint.maximumActions)",
          advice: "the \(PayloadLint.maximumActions) that people need most"))
    }
    var lint = AlertLint(texts: titles, width: width)
    for (index, title) in titles.enumerated() {
      let place = "\(pointer)/actions/\(index)/title"
      if ["cancel", "abbrechen", "annuler", "cancelar", "annulla", "取消", "キャンセル", "취소"].contains(title.lowercased()) {
        findings.append(
          LintFinding(.x3, at: place, "an action sheet already has Cancel", advice: "no action of that name"))
      }
      lint.check(button: title, at: place)
    }
    findings += lint.findings
  }
}

extension LintRule {
  fileprivate init(_ rule: Rule) {
    switch rule {
    case .b1: self = .b1
    case .s1: self = .s1
    case .s3: self = .s3
    default: self = .aps
    }
  }
}
