/// What the parser of command lines says of a wrong one, as one line of ours.
struct WrongUsage {
  /// The sentence, and where to read on.
  let line: String

  /// - Parameters:
  ///   - message: the parser's sentence.
  ///   - fullMessage: all that it would print, which ends with the page of help.
  init(message: String, fullMessage: String) {
    let sentence = message.split(whereSeparator: \.isNewline).map(String.init).joined(separator: " ")
    let page = fullMessage.matches(of: /See '([^']*)'/).last.map { String($0.1) } ?? "pushcli --help"
    line = WrongUsage.rewritten(sentence) + "; see `\(page)`"
  }

  /// The sentences of the parser, and ours. Its own stand where a version has others.
  private static func rewritten(_ sentence: String) -> String {
    if let match = sentence.wholeMatch(of: /Unexpected argument '(.*)'/) { return "unexpected argument \"\(match.1)\"" }
    if let match = sentence.wholeMatch(of: /\d+ unexpected arguments: '(.*)'/) {
      return "unexpected arguments \"\(match.1.replacing("', '", with: " "))\""
    }
    if let match = sentence.wholeMatch(of: /Unknown option '([^']*)'\. Did you mean '([^']*)'\?/) {
      return "unknown option \(match.1): did you mean \(match.2)?"
    }
    if let match = sentence.wholeMatch(of: /Unknown option '([^']*)'/) { return "unknown option \(match.1)" }
    if let match = sentence.wholeMatch(of: /Missing expected argument '(.*)'/) {
      return "\(placeholder(match.1)) is missing"
    }
    if let match = sentence.wholeMatch(of: /Missing value for '(.*)'/) {
      return "\(placeholder(match.1)) needs a value"
    }
    if let match = sentence.firstMatch(of: /^The value '(.*)' is invalid for '(.*?)'(?:: (.*)|\. (.*))?$/) {
      let hint = (match.3 ?? match.4).map { ": " + $0.prefix(1).lowercased() + $0.dropFirst() } ?? ""
      return
        "\"\(match.1)\" is no value of \(placeholder(match.2))\(hint.hasSuffix(".") ? String(hint.dropLast()) : hint)"
    }
    return sentence.hasSuffix(".") ? String(sentence.dropLast()) : sentence
  }

  /// `--device <device>` as `--device DEVICE`.
  private static func placeholder(_ text: some StringProtocol) -> String {
    String(text).replacing(/<([^>]*)>/) { $0.1.uppercased() }
  }
}
