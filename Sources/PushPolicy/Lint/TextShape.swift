/// A text taken apart: its words, and how its sentences end.
struct TextShape {
  /// One word of a text, with where it stands.
  struct Word {
    /// Without punctuation around it.
    var text: Substring
    /// Whether a sentence or what follows a colon or a dash begins with it.
    var isFirst: Bool
  }

  let text: String
  let words: [Word]
  /// Sentences, at least one unless the text is empty.
  let sentenceCount: Int
  /// The mark at its very end, if it is one that ends something.
  let end: Character?

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
        // A dash that stands alone begins anew.
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
    end = last.flatMap { TextShape.isEnd($0) && !TextShape.isAbbreviation(previous) ? $0 : nil }
  }

  /// Marks that end a statement, a question or a part of one.
  private static func isEnd(_ character: Character) -> Bool {
    isSentenceEnd(character) || ",;:，；：、".contains(character)
  }

  static func isSentenceEnd(_ character: Character) -> Bool { ".!?…。！？؟।۔".contains(character) }

  static func isQuestion(_ character: Character?) -> Bool { character.map { "?？؟".contains($0) } ?? false }

  /// A word without punctuation around it.
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

  /// A word without the quotes and brackets that close behind its punctuation.
  private static func closed(_ field: Substring) -> Substring {
    var field = field
    while let last = field.last, "\"'”’»)]）」』".contains(last) { field.removeLast() }
    return field
  }

  /// `Inc.`, `p.m.`, `U.S.`: the full stop is the word's own.
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
  /// Whether its letters say nothing of style: a number, an address, a placeholder, a name such as `iPhone`.
  var isExempt: Bool {
    if text.contains(where: { $0.isNumber || "@/\\_{}%$#<>&+.".contains($0) }) { return true }
    let letters = text.filter(\.isLetter)
    return letters.isEmpty || letters.dropFirst().contains(where: \.isUppercase)
  }

  /// Whether it begins with a capital, or with a letter of a script that has none.
  var isCapitalised: Bool { !(text.first { $0.isLetter }?.isLowercase ?? false) }
}

/// Title-style capitals of English (T5).
enum TitleStyle {
  private static let articlesAndConjunctions: Set<String> = ["a", "an", "the", "and", "but", "or", "nor"]
  private static let small: Set<String> = articlesAndConjunctions.union([
    "for", "so", "yet", "at", "by", "in", "of", "off", "on", "out", "per", "to", "up", "via", "as", "vs",
  ])

  /// The words that are not as title-style wants them: small ones that should begin with a capital, and articles and
  /// conjunctions that should not.
  static func faults(_ shape: TextShape) -> [TextShape.Word] {
    shape.words.filter { word in
      guard !word.isExempt else { return false }
      if word.isFirst { return !word.isCapitalised }
      let lowercased = word.text.lowercased()
      if articlesAndConjunctions.contains(lowercased) { return word.isCapitalised }
      return !word.isCapitalised && !small.contains(lowercased)
    }
  }

  /// Whether this looks like title-style where sentence-style is due: every longer word begins with a capital.
  static func isUsed(_ shape: TextShape) -> Bool {
    let telling = shape.words.filter { !$0.isFirst && !$0.isExempt && !small.contains($0.text.lowercased()) }
    return telling.count >= 2 && telling.allSatisfy(\.isCapitalised)
  }

  /// The text with these words' first letters changed to the other case.
  static func switching(_ words: [TextShape.Word], in text: String) -> String {
    var result = text
    // From the end, so that the places before stay as they are.
    for word in words.reversed() {
      guard let place = word.text.firstIndex(where: \.isLetter) else { continue }
      let letter = text[place]
      result.replaceSubrange(place...place, with: letter.isUppercase ? letter.lowercased() : letter.uppercased())
    }
    return result
  }
}
