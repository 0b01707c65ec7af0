import Foundation

enum PayloadSource: Equatable {
  /// The options, with this message; nil without a message.
  case flags(body: String?)
  /// The options, with the text of standard input as the message.
  case pipedBody
  /// A whole payload in a file; `-` is standard input.
  case file(String)

  /// Determines the source from the command line.
  ///
  /// - Parameters:
  ///   - words: the arguments after the options.
  ///   - file: the value of `--file`.
  ///   - isFile: returns true if a file, not a folder, has the name.
  /// - Throws: ``CommandFailure`` of wrong usage with the correct form.
  init(
    words: [String], file: String?, content: PayloadContent, input: StandardInput, isFile: (String) -> Bool
  ) throws(CommandFailure) {
    let positional = try PayloadSource.positional(words, isFile: isFile)
    if case .file(let path)? = file.map({ .file($0) }) ?? positional {
      guard !content.isGiven else {
        throw CommandFailure(.usage, "the payload comes from the flags or from \(path), not from both")
      }
      guard file == nil || words.isEmpty else {
        throw CommandFailure(.usage, "the payload comes from --file or from \"\(words[0])\", not from both")
      }
      self = .file(path)
    } else if case .flags? = positional {
      guard content.body == nil else {
        throw CommandFailure(.usage, "the message is given twice: by --body and by \"\(words[0])\"")
      }
      self = positional ?? .pipedBody
    } else if let body = content.body {
      self = body == "-" ? .pipedBody : .flags(body: body)
    } else {
      self = PayloadSource.reads(input, with: content) ? .pipedBody : .flags(body: nil)
    }
  }

  /// Returns the source that the arguments after the options name; nil if there are none.
  private static func positional(
    _ words: [String], isFile: (String) -> Bool
  ) throws(CommandFailure) -> PayloadSource? {
    guard let word = words.first else { return nil }
    guard words.count == 1 else { return .flags(body: words.joined(separator: " ")) }
    if word == "-" || word.hasSuffix(".json") || word.hasSuffix(".apns") { return .file(word) }
    if word.hasPrefix("@"), word.utf8.count > 1 { return .file(String(word.dropFirst())) }
    guard !isFile(word) else {
      throw CommandFailure(
        .usage, "\"\(word)\" is a file: -f \(word) sends it as the payload, --body \(word) sends these words")
    }
    return .flags(body: word)
  }

  /// Returns true if the message is read from standard input. If there is no content, it is the only possible
  /// source. Otherwise it is read only if it belongs to this command alone, so that a shell loop keeps its lines.
  private static func reads(_ input: StandardInput, with content: PayloadContent) -> Bool {
    switch input {
    case .none: false
    case .piped: true
    case .shared: !content.hasContent
    }
  }
}
