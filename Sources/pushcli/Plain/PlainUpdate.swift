import Foundation
import GatewayProtocol
import PushCore
import PushPolicy
import TerminalUI

extension PlainPhone: LineModel {
  static let quit = PhoneEffect.quit

  static func message(for input: TerminalInput) -> PhoneMessage { .input(input) }

  /// Applies `message` at `now`, prints the changes that matter to the user, and returns the effects to perform.
  mutating func update(_ message: PhoneMessage, now: Date) -> [PhoneEffect] {
    var effects: [PhoneEffect] = []
    switch message {
    case .input(.line(let line)): effects = take(line, now: now)
    case .input(.resized(let size)):
      self.size = size
      // Lines are wrapped to this size; the size that `PhoneModel` keeps is for the layout of the screen, which is not
      // drawn here.
      effects = phone.update(.input(.tick), now: now)
    case .input(.terminate):
      effects = leave { $0.update(.input(.terminate), now: now) }
    case .paused: showPause(&effects)
    default:
      effects = phone.update(message, now: now)
      showNotice()
      show(message, &effects)
    }
    showNotice()
    if !effects.contains(.quit) { ask() }
    return effects
  }

  private mutating func showNotice() {
    guard let notice = phone.notice else { return }
    phone.notice = nil
    if notice != lastNotice { say(notice) }
    lastNotice = notice
  }

  /// Prints the status at the start of the phone.
  mutating func greet(now: Date) {
    phone.now = now
    say(lines: status)
    say("help lists the commands, an empty line repeats the alert.")
    if phone.alerts.count > 1 { say("alerts lists all pending alerts.") }
    showing.formUnion(phone.alerts.map(\.ordinal))
    ask()
  }

  /// Leaves the phone, which presses the cancelling button of the pending alert if it has been shown for a moment (A7).
  private mutating func leave(_ body: (inout PhoneModel) -> [PhoneEffect]) -> [PhoneEffect] {
    let before = phone.alerts
    let effects = body(&phone)
    let closed = before.filter { alert in !phone.alerts.contains { $0.ordinal == alert.ordinal } }
    if !closed.isEmpty { say("\(counted(closed.count, "alert")) closed, because the client quits.") }
    return effects
  }

  // MARK: Events

  /// Reports changes that the user has not made.
  private mutating func show(_ message: PhoneMessage, _ effects: inout [PhoneEffect]) {
    switch message {
    case .push(let push): show(push, &effects)
    case .connection(let connection): show(connection)
    case .retract, .takenBack, .answeredElsewhere, .stored(_, .some): showRetracted()
    case .gap(let dropped): say("\(PlainPhone.dropped(dropped)).")
    case .finished(.saving, true, nil): say("Saved.")
    case .finished(.sending, _, _): prompt()
    default: break
    }
  }

  private mutating func show(_ push: DevicePush, _ effects: inout [PhoneEffect]) {
    if !burst.isWaiting { effects.append(.awaitPause) }
    burst.isWaiting = true
    guard burst.take() else { return }
    say("")
    say(lines: PlainText.arrival(of: push, timeZone: phone.timeZone, columns: columns))
    if let ordinal = phone.alerts.last(where: { $0.id == push.id })?.ordinal { showing.insert(ordinal) }
  }

  /// Ends a pause after the arrival of a push.
  private mutating func showPause(_ effects: inout [PhoneEffect]) {
    let (unshown, goesOn) = burst.pause()
    if goesOn { effects.append(.awaitPause) }
    guard unshown > 0 else { return }
    say("\(counted(unshown, "more push", "more pushes")) came: center lists them; alerts lists the pending alerts")
    showing.formUnion(phone.alerts.map(\.ordinal))
  }

  /// Reports each loss of the gateway once, for any number of retries.
  private mutating func show(_ connection: PhoneConnection) {
    switch connection {
    case .connecting: return
    case .connected: isAway = false
    case .disconnected, .refused:
      guard !isAway else { return }
      isAway = true
    }
    let words = self.connection
    say(words.prefix(1).uppercased() + words.dropFirst() + ".")
  }

  /// Reports that the pending alert was closed without an answer on this device.
  private mutating func showRetracted() {
    let waiting = Set(phone.alerts.map(\.ordinal))
    guard let gone = asked.subtracting(waiting).min() else { return }
    let answer = state.index(of: gone).flatMap { state.entries[$0].answerWords }
    say("No longer needed: \(answer ?? "it was answered on another device, replaced or has expired").")
  }

  // MARK: Typed lines

  private mutating func take(_ line: String, now: Date) -> [PhoneEffect] {
    lastNotice = nil
    var plain = self
    let effects = phone.happen(now: now, isFromPerson: true) { phone in
      plain.phone = phone
      let effects = plain.perform(line)
      phone = plain.phone
      return effects
    }
    let phone = phone
    self = plain
    self.phone = phone
    return effects
  }

  private mutating func perform(_ line: String) -> [PhoneEffect] {
    guard phone.draft == nil else { return compose(line: line) }
    switch PlainLine(line) {
    case .again:
      subject = .question
      phone.alerts.isEmpty ? say("No alert is pending.") : askAgain()
    case .pick(let number): return pick(number)
    case .word(let verb, let rest): return perform(verb, rest)
    case .other(let line): return take(other: line)
    case .wrong(let words): say(words)
    }
    return []
  }

  /// Applies a number alone to the last list, else to the pending alert.
  private mutating func pick(_ number: Int) -> [PhoneEffect] {
    switch subject {
    case .pushes: open(number)
    case .settings: showSetting(number)
    case .question: return press(number &- 1)
    case .nothing: say("no \(number): nothing is listed or asked; center lists the pushes")
    }
    return []
  }

  /// Presses a button of the pending alert, or reports an unknown word.
  private mutating func take(other line: String) -> [PhoneEffect] {
    if let index = PlainPhone.index(of: line, in: choices) { return press(index) }
    let word = String(line.prefix { $0 != " " })
    let near = Suggestions.nearest(to: word, among: PlainWord.all.flatMap(\.names) + choices.map(\.title))
    return refuse(
      "unknown word \(PlainLine.quote(word)): \(near.map { "did you mean \($0)? " } ?? "")help lists all words")
  }

  private mutating func perform(_ verb: PlainWord.Verb, _ rest: PlainLine.Rest) -> [PhoneEffect] {
    let (number, text) = (rest.number, rest.text)
    switch verb {
    case .help: help(text)
    case .status: say(lines: status)
    case .apps: say(page: appLines)
    case .center: listCenter()
    case .unread: listCenter(in: .unread)
    case .list: listApp(text ?? "")
    case .search: search(text ?? "")
    case .more: showMore()
    case .open: open(number)
    case .payload: showPayload(number)
    case .link: return openLink(number)
    case .save: return saveAttachment(number)
    case .copy: return copy(number)
    case .report: return report(number)
    case .unsubscribe: return unsubscribe(number)
    case .mark: mark(rest)
    case .clear: clear(rest)
    case .undo: undo()
    case .redo: redo()
    case .alerts: listAlerts()
    case .answer: return answer(text ?? "")
    case .close: return close(rest)
    case .view: return view(number)
    default: return performOther(verb, text)
    }
    return []
  }

  private mutating func performOther(_ verb: PlainWord.Verb, _ text: String?) -> [PhoneEffect] {
    switch verb {
    case .silent: return silence(text)
    case .ring: return silence("off")
    case .settings: listSettings(text)
    case .set: return set(text ?? "")
    case .tryNow: return tryNow()
    case .noted:
      say(state.droppedCount > 0 ? "Noted." : "No pushes were dropped.")
      if state.droppedCount > 0 { return phone.perform(.dismissNotice) }
    case .compose: compose(text)
    case .quit: return leave { $0.quit() }
    default: break
    }
    return []
  }

  private mutating func help(_ text: String?) {
    guard let text else {
      say(page: PlainWord.all.flatMap { TextLayout.wrapped("\($0.usage): \($0.help)", columns: columns) })
      return
    }
    guard let word = PlainWord.named(text) else {
      let near =
        Suggestions.nearest(to: text, among: PlainWord.all.flatMap(\.names)).map { "did you mean \($0)? " } ?? ""
      return say("unknown word \(PlainLine.quote(text)): \(near)help lists all words")
    }
    let others = word.others.isEmpty ? "" : "; also \(word.others.joined(separator: ", "))"
    let example = word.example.isEmpty ? "" : "; such as \(word.example)"
    say("\(word.usage): \(word.help)\(example)\(others)")
  }

  private mutating func silence(_ text: String?) -> [PhoneEffect] {
    let word = text?.lowercased() ?? "on"
    guard word == "on" || word == "off" else {
      return refuse("silent is on or off, not \(PlainLine.quote(word))")
    }
    let isSilent = word == "on"
    say(isSilent ? "Silent: no sounds, but for critical ones." : "Rings.")
    return isSilent == state.settings.isSilent ? [] : phone.perform(.toggleSilent)
  }

  private mutating func tryNow() -> [PhoneEffect] {
    guard case .disconnected = phone.connection else {
      return refuse("nothing to try: \(connection)")
    }
    say("Trying.")
    isAway = false
    return phone.perform(.retry)
  }
}

extension PlainLine.Rest {
  fileprivate var number: Int? { if case .numbers(let numbers) = self { numbers.first } else { nil } }
  fileprivate var text: String? { if case .text(let text) = self { text } else { nil } }
}
