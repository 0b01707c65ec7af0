import Foundation

/// Where the payload of a push comes from.
enum PayloadSource: Equatable {
  /// The flags, with this message; nil: without one.
  case flags(body: String?)
  /// The flags, with what standard input has for the message.
  case pipedBody
  /// A whole payload, in a file; `-` is standard input.
  case file(String)

  /// Decides by what was given.
  ///
  /// - Parameters:
  ///   - words: the arguments after the options.
  ///   - file: the value of `--file`.
  ///   - isFile: whether there is a file, no folder, of a name.
  /// - Throws: ``CommandFailure`` of wrong usage, which says what to write instead.
  init(
    words: [String], file: String?, options: PayloadOptions, input: StandardInput, isFile: (String) -> Bool
  ) throws(CommandFailure) {
    let positional = try PayloadSource.positional(words, isFile: isFile)
    if case .file(let path)? = file.map({ .file($0) }) ?? positional {
      guard !options.isGiven else {
        throw CommandFailure(.usage, "the payload comes from the flags or from \(path), not from both")
      }
      guard file == nil || words.isEmpty else {
        throw CommandFailure(.usage, "the payload comes from --file or from \"\(words[0])\", not from both")
      }
      self = .file(path)
    } else if case .flags? = positional {
      guard options.body == nil else {
        throw CommandFailure(.usage, "the message is given twice: by --body and by \"\(words[0])\"")
      }
      self = positional ?? .pipedBody
    } else if let body = options.body {
      self = body == "-" ? .pipedBody : .flags(body: body)
    } else {
      self = PayloadSource.reads(input, besides: options) ? .pipedBody : .flags(body: nil)
    }
  }

  /// What stands after the options; nil: nothing.
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

  /// Where there is no message yet: alone, standard input is all that there can be; beside other flags it is read only
  /// when it was given to this command itself, so that a loop keeps its lines.
  private static func reads(_ input: StandardInput, besides options: PayloadOptions) -> Bool {
    switch input {
    case .none: false
    case .piped: true
    case .shared: !options.hasContent
    }
  }
}
