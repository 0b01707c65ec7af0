extension CommandFailure {
  /// Rewrites an error of the command-line parser as one line in the style of `pushcli`: the sentence, and the help page
  /// to read.
  ///
  /// - Parameters:
  ///   - message: the parser's sentence.
  ///   - fullMessage: the parser's full output: the help of the option, and at its end the page of help.
  ///   - numbers: the options whose values are numbers.
  static func usageLine(message: String, fullMessage: String, numbers: OptionNumbers? = nil) -> String {
    let sentence = message.split(whereSeparator: \.isNewline).map(String.init).joined(separator: " ")
    let page = fullMessage.matches(of: /See '([^']*)'/).last.map { String($0.1) } ?? "pushcli --help"
    let help = fullMessage.firstMatch(of: /(?:^|\n)Help: +\S+(?: <[^>]*>)? +(.*)/).map { String($0.1) }
    return rewritten(sentence, help, numbers) + "; see `\(page)`"
  }

  /// Rewrites the known sentences of the parser; returns a sentence of another version unchanged.
  ///
  /// - Parameter help: the help of the option.
  private static func rewritten(_ sentence: String, _ help: String?, _ numbers: OptionNumbers?) -> String {
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
      // The parser lists the values if they are few; otherwise the form is in the option's help.
      let form = numbers?.expected(of: match.2.prefix { $0 != " " }).map { "expected " + $0 } ?? help
      let given = (match.3 ?? match.4).map(String.init)
      let hint = given.map { values(of: $0) ?? $0 } ?? form
      return "\"\(match.1)\" is not a value of \(placeholder(match.2))" + (hint.map { ": " + clause($0) } ?? "")
    }
    return sentence.hasSuffix(".") ? String(sentence.dropLast()) : sentence
  }

  /// Converts the parser's list of values, which has quotes or one line for each value; nil for any other sentence.
  private static func values(of sentence: String) -> String? {
    guard let list = sentence.wholeMatch(of: /Please provide one of (.*)/)?.1 else { return nil }
    let quoted = list.matches(of: /'([^']*)'/).map { String($0.1) }
    let values = quoted.isEmpty ? list.matches(of: /\s- (\S+)/).map { String($0.1) } : quoted
    guard let last = values.last else { return nil }
    return "expected " + (values.count == 1 ? last : values.dropLast().joined(separator: ", ") + " or " + last)
  }

  /// Converts a sentence to a clause at the end of another sentence.
  private static func clause(_ sentence: String) -> String {
    let start =
      sentence.dropFirst().first?.isUppercase == true
      ? sentence : sentence.prefix(1).lowercased() + sentence.dropFirst()
    return start.hasSuffix(".") ? String(start.dropLast()) : start
  }

  /// Converts `--device <device>` to `--device DEVICE`.
  private static func placeholder(_ text: some StringProtocol) -> String {
    String(text).replacing(/<([^>]*)>/) { $0.1.uppercased() }
  }
}
