import FoundationEssentials

// What libFuzzer calls with every input: the first byte chooses what the rest is. It is compiled together with
// PushPolicy (see scripts/fuzz-policy), so that its coverage is the policy's.

// libFuzzer calls on one thread.
nonisolated(unsafe) private let parser = JSONParser()
nonisolated(unsafe) private let lint = PayloadLint { $0.utf8.count }

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzPolicy(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
  let bytes = unsafe Array(UnsafeBufferPointer(start: start, count: count))
  guard let choice = bytes.first else { return 0 }
  let rest = Array(bytes.dropFirst())
  switch choice & 3 {
  case 0: fuzz(payload: rest)
  case 1: fuzz(text: String(decoding: rest, as: UTF8.self))
  case 2: fuzz(preferences: rest)
  default: fuzz(assignment: String(decoding: rest, as: UTF8.self))
  }
  return 0
}

private func fuzz(payload bytes: [UInt8]) {
  let findings = lint.findings(in: bytes)
  if findings.contains(where: { $0.fix != nil }), let fixed = lint.fixed(bytes) {
    precondition((try? parser.payload(fixed.span)) != nil, "what is mended is still a payload")
  }
  guard let notification = (try? parser.payload(bytes.span))?.notification else { return }
  var preferences = Preferences()
  preferences.quietHours = [QuietWindow(from: bytes.count % 1440, to: 60)]
  for decision in [Preferences(), preferences].map({ decide(notification, $0) }) {
    var line: [UInt8] = []
    decision.presentation.appendJSON(to: &line)
    precondition((try? JSONDecoder().decode(Presentation.self, from: Data(line))) == decision.presentation)
    precondition(decision.brokenInvariant(asked: AskedPush(notification, on: .init()).parts) == nil)
    precondition(Decision.Removal.list(decision.removed.map(\.description).joined(separator: "; ")) == decision.removed)
  }
  let asked = AskedPush(notification, on: .init())
  precondition(AskedPush(asked.description) == asked)
}

private func decide(_ notification: PushNotification, _ preferences: Preferences) -> Decision {
  let decision = Policy.decide(
    notification, topic: "a", preferences: preferences, device: .init(), at: .utc(1_800_000_000))
  let again = Policy.decide(
    notification, topic: "a", preferences: preferences, device: .init(), at: .utc(1_800_000_000))
  precondition(decision == again, "a decision is the same twice")
  return decision
}

private func fuzz(text: String) {
  var payload = Array(#"{"aps":{"alert":{"title":"#.utf8)
  appendJSONString(text, to: &payload)
  payload += #","body":"#.utf8
  appendJSONString(String(text.reversed()), to: &payload)
  payload += #","action-loc-key":"#.utf8
  appendJSONString(String(text.prefix(20)), to: &payload)
  payload += "}}}".utf8
  fuzz(payload: payload)
  let digest = PushDigest([
    DigestEntry(id: "1", topic: "a", app: text, title: DigestEntry.line(.init(body: text)), received: 0)
  ])
  precondition((try? parser.payload(digest.payload.span))?.notification.alert != nil)
}

private func fuzz(preferences bytes: [UInt8]) {
  guard hasForm(bytes) else { return }
  guard let preferences = try? JSONDecoder().decode(Preferences.self, from: Data(bytes)) else {
    preconditionFailure("what has the form can be read")
  }
  check(preferences)
}

private func fuzz(assignment: String) {
  for (app, category) in [(nil, nil), ("a", nil), ("a", "c")] as [(String?, String?)] {
    var preferences = Preferences()
    guard (try? preferences.set(assignment, app: app, category: category)) != nil else { continue }
    check(preferences)
  }
}

private func hasForm(_ json: [UInt8]) -> Bool {
  (try? parser.parse(json.span) { PreferencesForm.everything.error(in: $0) == nil }) ?? false
}

/// What can be chosen can be written, has the form, and reads the same.
private func check(_ preferences: Preferences) {
  guard let json = try? JSONEncoder().encode(preferences) else { preconditionFailure("choices can be written") }
  precondition(hasForm(Array(json)), "what is written has the form: \(String(decoding: json, as: UTF8.self))")
  precondition((try? JSONDecoder().decode(Preferences.self, from: json)) == preferences, "and reads the same")
  var notification = PushNotification()
  notification.alert = .init()
  notification.alert?.body = "x"
  for hour in 0..<24 {
    let moment = Moment.utc(1_800_000_000 + Int64(hour) * 3600)
    _ = Policy.decide(notification, topic: "a", preferences: preferences, device: .init(), at: moment)
    precondition(preferences.summary.due(after: moment) > moment.seconds)
  }
}
