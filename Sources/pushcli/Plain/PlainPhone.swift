import Foundation
import GatewayProtocol
import PushPolicy
import TerminalUI

/// The phone in lines (L7): the same model as that of the screen, presented as text.
struct PlainPhone: Sendable {
  var phone: PhoneModel
  /// The size of the terminal, which limits the width of lines and the length of pages.
  var size = Size(columns: 80, rows: 24)

  /// The targets of numbers in the last lists; only a request of the user changes them.
  var pushes: [Int] = []
  var settings: [SettingsRow.Key] = []
  /// The list or question that a number alone refers to.
  var subject = Subject.nothing
  /// The rest of the output, for `more`.
  var rest = Rest.nothing
  /// The push that was read last.
  var opened: Int?

  /// The alerts of the last question.
  var asked: Set<Int> = []
  /// The alerts that were shown, with the time from which the user could read them.
  var shown: [Int: Date] = [:]
  /// The alerts in the output that is not written yet.
  var showing: Set<Int> = []
  var burst = PlainBurst()
  /// The last notice that was printed without a request; it is repeated only after the user types a line.
  var lastNotice: String?
  /// True if the loss of the gateway was reported.
  var isAway = false
  private var output = ""

  enum Subject: Sendable, Equatable { case nothing, question, pushes, settings }

  /// The rest of an output that was too long for a page.
  enum Rest: Sendable, Equatable {
    case nothing
    case lines(ArraySlice<String>)
    /// Rows under a header, which is printed again.
    case rows(ArraySlice<PlainRow>, header: String)
  }

  /// The time that an alert must have been shown before a line closes it together with others.
  static let readinessTime: TimeInterval = 0.5

  init(_ phone: PhoneModel) {
    self.phone = phone
    self.phone.form.drawing = .plain
  }

  var state: PhoneState { phone.state }
  var clock: ClockText { ClockText(timeZone: phone.timeZone) }

  /// The number of lines, and of pushes of a list, per page.
  var pageLines: Int { max(size.rows - 4, 8) }
  static let pagePushes = 10
  /// The width in columns at which a line is cut or wrapped.
  var columns: Int { max(size.columns - 1, 20) }

  /// Returns a push that is in the center or whose alert is pending.
  func entry(ordinal: Int) -> PhoneState.Entry? {
    if let index = state.index(of: ordinal) { return state.entries[index] }
    return phone.alerts.first { $0.ordinal == ordinal }.map {
      PhoneState.Entry(ordinal: ordinal, push: $0.push, isRead: true)
    }
  }

  // MARK: Output

  mutating func say(_ line: String) { output += Sanitizer.line(line) + "\n" }

  /// Adds lines to the output without a change to the rest for `more`.
  mutating func say(lines: some Sequence<String>) {
    for line in lines { say(line) }
  }

  /// Adds one page of lines to the output; `more` prints the rest.
  mutating func say(page lines: [String]) {
    guard lines.count > pageLines + 1 else {
      rest = .nothing
      return say(lines: lines)
    }
    say(lines: lines.prefix(pageLines))
    rest = .lines(lines[pageLines...])
    say("\(counted(lines.count - pageLines, "more line")): more prints them")
  }

  mutating func takeOutput() -> String {
    defer { output = "" }
    return phone.form.spelled(output)
  }

  /// Notes that the output can be read from `now` on.
  mutating func noteShown(now: Date) {
    let waiting = Set(phone.alerts.map(\.ordinal))
    for ordinal in showing where shown[ordinal] == nil { shown[ordinal] = now }
    showing = []
    shown = shown.filter { waiting.contains($0.key) }
  }
}

/// The counter of a burst of pushes, of which only the first are printed in full.
struct PlainBurst: Sendable, Equatable {
  /// The number of pushes of a burst that are printed.
  static let maximumShown = 5
  /// The number of pauses after which the summary is printed even if the burst continues.
  static let maximumPauses = 10

  /// True while the next pause is scheduled.
  var isWaiting = false
  var count = 0
  /// The number of pushes that were not printed.
  var unshown = 0
  private var pauses = 0

  /// True if more pushes arrived than are printed.
  var isOverfull: Bool { unshown > 0 }

  /// Counts a push; returns true if it is printed.
  mutating func take() -> Bool {
    count += 1
    guard count > PlainBurst.maximumShown else { return true }
    unshown += 1
    return false
  }

  /// Ends a pause; returns the number of pushes to summarize, and true if the burst continues.
  mutating func pause() -> (unshown: Int, goesOn: Bool) {
    pauses += 1
    // More pushes than are printed arrived since the previous pause.
    let goesOn = count > PlainBurst.maximumShown
    isWaiting = goesOn
    guard !goesOn || pauses >= PlainBurst.maximumPauses else {
      count = PlainBurst.maximumShown
      return (0, true)
    }
    defer { (unshown, pauses) = (0, 0) }
    count = goesOn ? PlainBurst.maximumShown : 0
    return (unshown, goesOn)
  }
}

/// A line of a list of pushes.
enum PlainRow: Sendable, Equatable {
  case header(String)
  case push(number: Int, ordinal: Int)
}
