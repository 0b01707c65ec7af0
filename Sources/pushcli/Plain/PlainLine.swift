import PushPolicy
import TerminalUI

/// The meaning of a typed line.
enum PlainLine: Sendable, Equatable {
  /// An empty line: repeats the question about the pending alerts.
  case again
  /// A number alone: an index in the last list or question.
  case pick(Int)
  case word(PlainWord.Verb, Rest)
  /// A line that begins with no word of the table: possibly the button of an alert.
  case other(String)
  /// An invalid line, with the reason in one line.
  case wrong(String)

  /// The text after a word.
  enum Rest: Sendable, Equatable {
    case nothing
    case numbers([Int])
    case text(String)
  }

  /// The maximum count of numbers in a line.
  static let maximumNumbers = 5_000
  /// The maximum number of characters of a typed word that an error repeats.
  static let maximumQuote = 40

  init(_ typed: String) {
    ReadingSteps.add(typed.utf8.count)
    let line = Sanitizer.line(typed).trimmed
    let parts = line.split(separator: " ", maxSplits: 1)
    guard let first = parts.first else {
      self = .again
      return
    }
    let rest = parts.count > 1 ? String(parts[1]).trimmed : ""
    if first.hasPrefix("/") {
      self = PlainLine.meaning(of: PlainWord.named("search"), String(line.dropFirst()).trimmed)
    } else if rest.isEmpty, let number = Int(first) {
      self = .pick(number)
    } else if let word = PlainWord.named(String(first)) {
      self = PlainLine.meaning(of: word, rest)
    } else {
      self = .other(line)
    }
  }

  private static func meaning(of word: PlainWord?, _ rest: String) -> PlainLine {
    guard let word else { return .again }
    guard !rest.isEmpty else {
      return word.isNeeded
        ? .wrong("\(word.name) needs more: \(word.usage), such as \(word.example)") : .word(word.verb, .nothing)
    }
    switch word.rest {
    case .nothing:
      return .wrong("nothing comes after \(word.name): write \(word.name) alone, not \(quote(rest)) after it")
    case .number:
      guard let number = Int(rest) else {
        return .wrong(
          "\(word.name) takes the number of a push in the list, such as \(word.example), not \(quote(rest))")
      }
      return .word(word.verb, .numbers([number]))
    case .numbers: return .word(word.verb, numbers(rest).map { .numbers($0) } ?? .text(rest))
    case .text: return .word(word.verb, .text(rest))
    }
  }

  /// Parses `1 3 5-7` and `2,4`; nil for other text.
  private static func numbers(_ text: String) -> [Int]? {
    var numbers: [Int] = []
    for part in text.split(whereSeparator: { $0 == " " || $0 == "," }) {
      let ends = part.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
      guard let first = ends[0], let last = ends[ends.count - 1], ends.count < 3, first <= last,
        last.subtractingReportingOverflow(first).partialValue < maximumNumbers, numbers.count < maximumNumbers
      else { return nil }
      ReadingSteps.add(part.utf8.count + last - first + 1)
      numbers += first...last
    }
    return numbers.isEmpty ? nil : numbers
  }

  /// Returns the typed text in quotes for an error message.
  static func quote(_ text: String) -> String { "\"\(TextLayout.truncated(text, columns: maximumQuote))\"" }
}

extension String {
  /// The text without spaces at its ends.
  var trimmed: String {
    var text = self[...]
    while text.first == " " { text.removeFirst() }
    while text.last == " " { text.removeLast() }
    return String(text)
  }
}
