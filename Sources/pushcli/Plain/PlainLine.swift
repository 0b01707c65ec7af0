import TerminalUI

/// What a typed line asks for.
enum PlainLine: Sendable, Equatable {
  /// An empty line: what waits?
  case again
  /// A number alone: of what was listed or asked last.
  case pick(Int)
  case word(PlainWord.Verb, Rest)
  /// It begins with no word of the table: perhaps the button of an alert.
  case other(String)
  /// It can't be meant, and in a line why.
  case wrong(String)

  /// What stands after a word.
  enum Rest: Sendable, Equatable {
    case nothing
    case numbers([Int])
    case text(String)
  }

  /// How many numbers a line names at most.
  static let maximumNumbers = 5_000
  /// The most characters of a typed word that an error repeats.
  static let maximumQuote = 40

  init(_ typed: String) {
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

  /// What `1 3 5-7` and `2,4` name; nil for anything else.
  private static func numbers(_ text: String) -> [Int]? {
    var numbers: [Int] = []
    for part in text.split(whereSeparator: { $0 == " " || $0 == "," }) {
      let ends = part.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
      guard let first = ends[0], let last = ends[ends.count - 1], ends.count < 3, first <= last,
        last.subtractingReportingOverflow(first).partialValue < maximumNumbers, numbers.count < maximumNumbers
      else { return nil }
      numbers += first...last
    }
    return numbers.isEmpty ? nil : numbers
  }

  /// What was typed, as an error repeats it.
  static func quote(_ text: String) -> String { "\"\(TextLayout.truncated(text, columns: maximumQuote))\"" }
}

extension String {
  /// Without spaces at its ends.
  var trimmed: String {
    var text = self[...]
    while text.first == " " { text.removeFirst() }
    while text.last == " " { text.removeLast() }
    return String(text)
  }
}
