/// A NATS subject with wildcards: `*` matches one token, `>` at the end matches one or more.
struct SubjectPattern: Sendable {
  private let tokens: [Substring]
  /// The text before the first wildcard.
  private let beginning: String
  /// True if the pattern has no wildcard.
  let isPlain: Bool

  init(_ text: String) {
    tokens = text.split(separator: ".", omittingEmptySubsequences: false)
    let plain = tokens.prefix { $0 != "*" && $0 != ">" }
    isPlain = plain.count == tokens.count
    beginning = isPlain ? text : plain.joined(separator: ".") + (plain.isEmpty ? "" : ".")
  }

  /// Returns the tokens that the wildcards `*` match, or nil if the subject doesn't match.
  func wildcards(in subject: String) -> [Substring]? {
    let parts = subject.split(separator: ".", omittingEmptySubsequences: false)
    var found: [Substring] = []
    for (index, token) in tokens.enumerated() {
      if token == ">" { return parts.count > index ? found : nil }
      guard index < parts.count else { return nil }
      if token == "*" { found.append(parts[index]) } else if token != parts[index] { return nil }
    }
    return parts.count == tokens.count ? found : nil
  }

  func matches(_ subject: String) -> Bool {
    if isPlain { return subject == beginning }
    return subject.hasPrefix(beginning) && wildcards(in: subject) != nil
  }

  /// Returns the subject under which a message is republished: `{{wildcard(1)}}` is the token of the first wildcard.
  func mapped(_ subject: String, to destination: String) -> String? {
    guard let wildcards = wildcards(in: subject) else { return nil }
    return destination.split(separator: ".").map { token in
      for (index, value) in wildcards.enumerated() where token == "{{wildcard(\(index + 1))}}" { return value }
      return token
    }.joined(separator: ".")
  }
}
