import FoundationEssentials

@testable import PushPolicy

extension FuzzTarget {
  /// A payload from a provider. The parser accepts the same payloads as the reference reader, and a decision obeys its
  /// rules.
  static let payload = FuzzTarget("payload") {
    let parser = JSONParser()
    let lint = PayloadLint { $0.utf8.count }
    return { bytes in
      compare(bytes, parser)
      let findings = lint.findings(in: bytes)
      if findings.contains(where: { $0.fix != nil }), let fixed = lint.fixed(bytes) {
        precondition((try? parser.payload(fixed.span)) != nil, "what is mended is still a payload")
      }
      guard let notification = (try? parser.payload(bytes.span))?.notification else { return }
      check(decisionsOn: notification)
    }
  }

  /// Texts of an alert, separated by NUL. A verdict has evidence, and without the evidence the verdict is different.
  static let detector = FuzzTarget("detector", maximumSize: 400) {
    let detector = AdDetector()
    return { bytes in
      let texts = bytes.split(separator: 0, omittingEmptySubsequences: false)
        .map { String(decoding: $0, as: UTF8.self) }
      let verdict = detector.assess(texts)
      precondition(verdict.score.isFinite, "a score is a number")
      precondition(detector.assess(texts) == verdict, "a verdict is the same twice")
      let evidence = detector.explain(texts)
      precondition(evidence.isEmpty == (verdict.outcome == .pass), "what does not pass is explained")
      for place in evidence {
        precondition(texts.indices.contains(place.text), "evidence is of a text")
        precondition(place.range.upperBound <= texts[place.text].utf8.count, "evidence lies in its text")
      }
    }
  }

  /// A user's preferences. The first byte gives their notation: JSON or an assignment.
  static let choices = FuzzTarget("choices", maximumSize: 600) {
    let parser = JSONParser()
    return { bytes in
      guard let first = bytes.first else { return }
      let rest = Array(bytes.dropFirst())
      guard first & 3 > 0 else { return check(choices: rest, parser) }
      var preferences = Preferences()
      let place = [(nil, nil), ("a", nil), ("a", "c")][Int(first & 3) - 1] as (app: String?, category: String?)
      let assignment = String(decoding: rest, as: UTF8.self)
      guard (try? preferences.set(assignment, app: place.app, category: place.category)) != nil else { return }
      check(preferences, parser)
    }
  }

  /// A window of quiet hours and a time. The text of a window parses to the same window, which applies for its length
  /// on its days.
  static let quietHours = FuzzTarget("quiet-hours", maximumSize: 80) {
    { bytes in
      let text = String(decoding: bytes.dropFirst(4), as: UTF8.self)
      let seconds = bytes.prefix(4).reduce(Int64(0)) { $0 << 8 | Int64($1) }
      let moment = ZonedTime(seconds: seconds) { zone, _ in zone.map { $0.utf8.count * 900 - 43_200 } ?? 0 }
      if let window = QuietWindow(text) {
        precondition(QuietWindow(window.description) == window, "a window reads as it is written")
        check(window, at: moment)
      }
      if let times = SummaryTimes(text) {
        precondition(SummaryTimes(times.description) == times, "times read as they are written")
        let due = times.due(after: moment)
        precondition(due > moment.seconds && due <= moment.seconds + 3 * 86_400, "a summary comes within days")
      }
    }
  }
}

/// Checks that simdjson and the reference reader return the same value.
private func compare(_ bytes: [UInt8], _ parser: JSONParser) {
  let expected = ReferenceJSON(bytes, maximumDepth: JSONParser.maximumDepth)
  let found = try? parser.parse(bytes.span) { ReferenceJSON($0) }
  precondition(found == expected, "two readers of JSON differ: \(bytes)")
}

extension ReferenceJSON {
  /// Creates the value that the parser has read.
  init(_ element: JSONElement) {
    switch element.kind {
    case .null: self = .null
    case .bool: self = .bool(element.boolean!)
    case .integer:
      if let whole = element.integer {
        self = .integer(negative: whole < 0, UInt64(whole.magnitude))
      } else {
        self = .integer(negative: false, UInt64(element.unsignedInteger!))
      }
    case .double: self = .double(element.double!.bitPattern)
    case .string: self = .string(Array(element.string!.utf8))
    case .array:
      var values: [ReferenceJSON] = []
      element.forEachElement { values.append(ReferenceJSON($0)) }
      self = .array(values)
    case .object:
      var members: [Member] = []
      element.forEachMember { members.append(Member(name: Array($0.utf8), value: ReferenceJSON($1))) }
      self = .object(members)
    }
  }
}

private func check(decisionsOn notification: PushNotification) {
  var quiet = Preferences()
  quiet.quietHours = [QuietWindow(from: 0, to: 720)]
  for preferences in [Preferences(), quiet] {
    let decision = decide(notification, preferences)
    precondition(decide(notification, preferences) == decision, "a decision is the same twice")
    precondition(decision.brokenInvariant(asked: RequestedPresentation(notification, on: .init()).parts) == nil)
    precondition(Decision.Removal.list(decision.removed.map(\.description).joined(separator: "; ")) == decision.removed)
    var line: [UInt8] = []
    decision.presentation.appendJSON(to: &line)
    precondition((try? JSONDecoder().decode(Presentation.self, from: Data(line))) == decision.presentation)
  }
  let asked = RequestedPresentation(notification, on: .init())
  precondition(RequestedPresentation(asked.description) == asked)
}

private func decide(_ notification: PushNotification, _ preferences: Preferences) -> Decision {
  Policy.decide(notification, topic: "a", preferences: preferences, device: .init(), at: .utc(1_800_000_000))
}

/// Checks that preferences of the valid form can be decoded.
private func check(choices bytes: [UInt8], _ parser: JSONParser) {
  guard hasForm(bytes, parser) else { return }
  guard let preferences = try? JSONDecoder().decode(Preferences.self, from: Data(bytes)) else {
    preconditionFailure("what has the form can be read")
  }
  check(preferences, parser)
}

private func hasForm(_ json: [UInt8], _ parser: JSONParser) -> Bool {
  (try? parser.parse(json.span) { Preference.Scope.everything.error(in: $0) == nil }) ?? false
}

/// Checks that decoded preferences can be encoded, have the valid form, and decode to the same value.
private func check(_ preferences: Preferences, _ parser: JSONParser) {
  guard let json = try? JSONEncoder().encode(preferences) else { preconditionFailure("choices can be written") }
  precondition(hasForm(Array(json), parser), "what is written has the form: \(String(decoding: json, as: UTF8.self))")
  precondition((try? JSONDecoder().decode(Preferences.self, from: json)) == preferences, "and reads the same")
  var notification = PushNotification()
  notification.alert = .init()
  notification.alert?.body = "x"
  for hour in stride(from: Int64(0), to: 24, by: 7) {
    let moment = ZonedTime.utc(1_800_000_000 + hour * 3600)
    _ = Policy.decide(notification, topic: "a", preferences: preferences, device: .init(), at: moment)
    precondition(preferences.summary.due(after: moment) > moment.seconds)
  }
}

/// Compares the window with a direct evaluation of its rule at one minute of the week.
private func check(_ window: QuietWindow, at moment: ZonedTime) {
  let local = moment.seconds + Int64(moment.offset(window.zone, moment.seconds))
  let minute = Int((local % 86_400 + 86_400) % 86_400) / 60
  // January 1, 1970 was a Thursday; the week begins on Monday.
  let day = Int(((local - Int64(minute) * 60) / 86_400 + 3) % 7 + 7) % 7
  let isAcross = window.to <= window.from
  let begins = minute >= window.from && (isAcross || minute < window.to) && window.days[day]
  let goesOn = isAcross && minute < window.to && window.days[(day + 6) % 7]
  precondition(window.contains(moment) == (begins || goesOn), "\(window) at \(moment.seconds)")
}
