import Foundation
import GatewayProtocol
import PushPolicy
import TerminalUI

/// The phone for who reads and types lines (L7): the same model as the screen's, told in words.
struct PlainPhone: Sendable {
  var phone: PhoneModel
  /// How wide and how high what is told at once may be.
  var size = Size(columns: 80, rows: 24)

  /// What numbers stand for: they never change but by what the person asks for.
  var pushes: [Int] = []
  var settings: [SettingsRow.Key] = []
  /// What a number alone is of.
  var subject = Subject.nothing
  /// What `more` tells.
  var rest = Rest.nothing
  /// The push that was read last.
  var opened: Int?

  /// The alerts of the last question.
  var asked: Set<Int> = []
  /// The alerts that were told, and when a person could have read them.
  var told: [Int: Date] = [:]
  /// Those that are told in what is not written yet.
  var telling: Set<Int> = []
  var burst = PlainBurst()
  /// The last line that was told of itself; it is not told again until something is typed.
  var lastNotice: String?
  /// Whether it was told that the gateway is away.
  var isAway = false
  private var output = ""

  enum Subject: Sendable, Equatable { case nothing, question, pushes, settings }

  /// What there is more of.
  enum Rest: Sendable, Equatable {
    case nothing
    case lines(ArraySlice<String>)
    /// Under the header, which is told again.
    case rows(ArraySlice<PlainRow>, header: String)
  }

  /// How long an alert has been told before a line closes it together with others.
  static let readinessTime: TimeInterval = 0.5

  init(_ phone: PhoneModel) {
    self.phone = phone
    self.phone.form.drawing = .plain
  }

  var state: PhoneState { phone.state }
  var clock: ClockText { ClockText(timeZone: phone.timeZone) }

  /// How many lines, and how many pushes of a list, are told at once.
  var pageLines: Int { max(size.rows - 4, 8) }
  static let pagePushes = 10
  /// The columns of a line that is cut or broken.
  var columns: Int { max(size.columns - 1, 20) }

  /// A push that is in the center, or whose alert waits.
  func entry(ordinal: Int) -> PhoneState.Entry? {
    if let index = state.index(of: ordinal) { return state.entries[index] }
    return phone.alerts.first { $0.ordinal == ordinal }.map {
      PhoneState.Entry(ordinal: ordinal, push: $0.push, isRead: true)
    }
  }

  // MARK: Telling

  /// Adds a line.
  mutating func say(_ line: String) { output += Sanitizer.line(line) + "\n" }

  /// Adds lines, and leaves what `more` tells as it is.
  mutating func say(lines: some Sequence<String>) {
    for line in lines { say(line) }
  }

  /// Adds lines, as many as are told at once; `more` has the others.
  mutating func say(page lines: [String]) {
    guard lines.count > pageLines + 1 else {
      rest = .nothing
      return say(lines: lines)
    }
    say(lines: lines.prefix(pageLines))
    rest = .lines(lines[pageLines...])
    say("\(counted(lines.count - pageLines, "more line")): more tells on")
  }

  mutating func takeOutput() -> String {
    defer { output = "" }
    return phone.form.spelled(output)
  }

  /// What was told can be read from `now` on.
  mutating func noteShown(now: Date) {
    let waiting = Set(phone.alerts.map(\.ordinal))
    for ordinal in telling where told[ordinal] == nil { told[ordinal] = now }
    telling = []
    told = told.filter { waiting.contains($0.key) }
  }
}

/// How many pushes have come at once: of many only the first are told whole.
struct PlainBurst: Sendable, Equatable {
  /// How many of a burst are told.
  static let maximumTold = 5
  /// After so many pauses what came is told, though it goes on coming.
  static let maximumPauses = 10

  /// Whether the next pause is awaited.
  var isWaiting = false
  var count = 0
  /// Those that were not told.
  var untold = 0
  private var pauses = 0

  /// Whether more came than are told.
  var isOverfull: Bool { untold > 0 }

  /// A push has come; returns whether it is told.
  mutating func take() -> Bool {
    count += 1
    guard count > PlainBurst.maximumTold else { return true }
    untold += 1
    return false
  }

  /// A pause is over; returns how many are to be told as a number, and whether it goes on.
  mutating func pause() -> (untold: Int, goesOn: Bool) {
    pauses += 1
    // More than are told came since the pause before.
    let goesOn = count > PlainBurst.maximumTold
    isWaiting = goesOn
    guard !goesOn || pauses >= PlainBurst.maximumPauses else {
      count = PlainBurst.maximumTold
      return (0, true)
    }
    defer { (untold, pauses) = (0, 0) }
    count = goesOn ? PlainBurst.maximumTold : 0
    return (untold, goesOn)
  }
}

/// A line of a list of pushes.
enum PlainRow: Sendable, Equatable {
  case header(String)
  /// A push with its number.
  case push(number: Int, ordinal: Int)
}
