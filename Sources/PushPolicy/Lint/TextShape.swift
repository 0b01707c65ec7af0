/// The structure of a text: its words, and the ends of its sentences.
struct TextShape {
  /// One word of a text, with its position.
  struct Word {
    /// The word without surrounding punctuation.
    var text: Substring
    /// True if the word begins a sentence, or a part after a colon or a dash.
    var isFirst: Bool
  }

  let text: String
  let words: [Word]
  /// The number of sentences, at least one unless the text is empty.
  let sentenceCount: Int
  /// The last mark of the text, if it ends a sentence or a part of one; else nil.
  let end: Character?
  /// True if the text ends in such a mark, or in the full stop of an abbreviation, which also ends the sentence.
  let isClosed: Bool

  init(_ text: String) {
    self.text = text
    var words: [Word] = []
    var sentences = 0
    var isFirst = true
    var hasContent = false
    var previous: Substring = ""
    for field in text.split(whereSeparator: \.isWhitespace) {
      let word = TextShape.trimmed(field)
      if word.isEmpty {
        // A new part begins after a separate dash.
        if field.allSatisfy({ "—–-:|·•".contains($0) }) { isFirst = true }
        previous = field
        continue
      }
      words.append(Word(text: word, isFirst: isFirst))
      hasContent = true
      let last = TextShape.closed(field).last ?? " "
      isFirst = last == ":" || last == "—" || last == "–"
      if TextShape.isSentenceEnd(last), !TextShape.isAbbreviation(field) {
        sentences += 1
        isFirst = true
        hasContent = false
      }
      // Scripts without spaces end sentences within a word.
      sentences += field.dropLast().count { "。！？".contains($0) }
      previous = field
    }
    self.words = words
    sentenceCount = sentences + (hasContent ? 1 : 0)
    let last = TextShape.closed(previous).last
    isClosed = last.map(TextShape.isEnd) ?? false
    end = last.flatMap { TextShape.isEnd($0) && !TextShape.isAbbreviation(previous) ? $0 : nil }
  }

  /// Returns true for marks that end a statement, a question or a part of one.
  private static func isEnd(_ character: Character) -> Bool {
    isSentenceEnd(character) || ",;:，；：、".contains(character)
  }

  static func isSentenceEnd(_ character: Character) -> Bool { ".!?…。！？؟।۔".contains(character) }

  static func isQuestion(_ character: Character?) -> Bool { character.map { "?？؟".contains($0) } ?? false }

  /// Returns a word without surrounding punctuation.
  private static func trimmed(_ field: Substring) -> Substring {
    var field = field
    while let first = field.first, !first.isLetter, !first.isNumber, !"$%@#{<&+".contains(first), !first.isSymbol {
      field.removeFirst()
    }
    while let last = field.last, !last.isLetter, !last.isNumber, !"%@}>&+".contains(last), !last.isSymbol {
      field.removeLast()
    }
    return field
  }

  /// Returns a word without the closing quotes and brackets after its punctuation.
  private static func closed(_ field: Substring) -> Substring {
    var field = field
    while let last = field.last, "\"'”’»)]）」』".contains(last) { field.removeLast() }
    return field
  }

  /// Returns true if the full stop belongs to the word, as in `Inc.`, `p.m.`, `U.S.`
  private static func isAbbreviation(_ field: Substring) -> Bool {
    guard field.last == ".", !field.hasSuffix("..") else { return false }
    let stem = field.dropLast()
    if stem.contains("."), stem.allSatisfy({ $0.isLetter || $0 == "." }) { return true }
    return abbreviations.contains(stem.lowercased())
      || stem.count == 1 && stem.first?.isUppercase == true && stem != "I"
  }

  private static let abbreviations: Set<String> = [
    "inc", "ltd", "co", "corp", "mr", "mrs", "ms", "dr", "st", "jr", "sr", "vs", "etc", "approx", "dept", "no", "nr",
    "str", "bzw", "ca", "z.b", "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec",
  ]
}

extension TextShape.Word {
  /// True if the case of the word does not indicate a style: a number, an address, a placeholder, a name such as
  /// `iPhone`.
  var isExempt: Bool {
    if text.contains(where: { $0.isNumber || "@/\\_{}%$#<>&+.".contains($0) }) { return true }
    let letters = text.filter(\.isLetter)
    return letters.isEmpty || letters.dropFirst().contains(where: \.isUppercase)
  }

  /// True if the word begins with a capital, or with a letter of a script without capitals.
  var isCapitalized: Bool { !(text.first { $0.isLetter }?.isLowercase ?? false) }
}

/// The title-style capitals of English (T5).
extension TextShape {
  private static let articlesAndConjunctions: Set<String> = ["a", "an", "the", "and", "but", "or", "nor"]
  private static let small: Set<String> = articlesAndConjunctions.union([
    "for", "so", "yet", "at", "by", "in", "of", "off", "on", "out", "per", "to", "up", "via", "as", "vs",
  ])

  /// The words with the wrong case: words that should begin with a capital, and articles and conjunctions that should
  /// not.
  var wordsOfWrongCase: [Word] {
    words.filter { word in
      guard !word.isExempt else { return false }
      if word.isFirst { return !word.isCapitalized }
      let lowercased = word.text.lowercased()
      if TextShape.articlesAndConjunctions.contains(lowercased) { return word.isCapitalized }
      return !word.isCapitalized && !TextShape.small.contains(lowercased)
    }
  }

  /// True if a text in sentence-style looks like title-style: all longer words begin with a capital.
  var hasTitleStyle: Bool {
    let telling = words.filter { !$0.isFirst && !$0.isExempt && !TextShape.small.contains($0.text.lowercased()) }
    return telling.count >= 2 && telling.allSatisfy(\.isCapitalized)
  }

  /// Returns the text with the case of these words' first letters switched.
  func switchingCase(of words: [Word]) -> String {
    var result = text
    // From the end on, so that the earlier positions stay valid.
    for word in words.reversed() {
      guard let place = word.text.firstIndex(where: \.isLetter) else { continue }
      let letter = text[place]
      result.replaceSubrange(place...place, with: letter.isUppercase ? letter.lowercased() : letter.uppercased())
    }
    return result
  }
}
