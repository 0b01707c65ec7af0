/// Checks the texts of an alert (rules T and A10), and reports each error, its position, and a better text.
///
/// Scripts without capitals, and languages other than English, are checked only by the rules that apply to them.
struct AlertLint {
  /// Returns the number of terminal columns of a text.
  let width: (String) -> Int
  /// The language of all texts together, and that of the text that is being checked.
  private let common: TextLanguage
  private var language: TextLanguage
  private(set) var findings: [LintFinding] = []

  /// The columns of one line (T2); a message has two lines (T6).
  static let lineWidth = 40

  /// - Parameter texts: all texts that are shown together, because one text alone is often too short to detect the
  ///   language.
  init(texts: [String], width: @escaping (String) -> Int) {
    self.width = width
    common = TextLanguage(of: texts)
    language = common
  }

  /// Sets the language for a text. A text in a script without capitals is `uncased`, independent of the other texts.
  private mutating func begin(_ text: String) {
    if TextLanguage.isUncased(text) {
      language = .uncased
    } else {
      language = common == .uncased ? TextLanguage(of: [text]) : common
    }
  }

  // MARK: Titles

  mutating func check(title: String, at pointer: String) {
    begin(title)
    let shape = TextShape(title)
    guard !shape.words.isEmpty else { return }
    let columns = width(title)
    if columns > AlertLint.lineWidth {
      add(.t2, pointer, "the title takes \(columns) columns and not one line", "at most \(AlertLint.lineWidth) columns")
    }
    checkEmptiness(of: shape, at: pointer)
    checkStyle(ofTitle: shape, at: pointer)
    checkPersons(shape, in: "title", at: pointer)
    checkCommon(shape, at: pointer)
  }

  private mutating func checkEmptiness(of shape: TextShape, at pointer: String) {
    let isEmpty =
      language == .uncased
      ? AlertLint.emptyTitles.contains(shape.text) : shape.words.count == 1 && shape.text.first != "#"
    guard isEmpty else { return }
    add(.t3, pointer, "the title is one word", "the event, as \"Payment Declined\" in place of \"Error\"")
  }

  /// Checks T4 and T5: a title is a fragment or statement, a question, or several sentences.
  private mutating func checkStyle(ofTitle shape: TextShape, at pointer: String) {
    if shape.sentenceCount > 1 {
      if !(shape.end.map(TextShape.isSentenceEnd) ?? false) {
        add(
          .t4, pointer, "the last of several sentences has no punctuation", nil,
          fix: shape.text + AlertLint.fullStop(of: shape.text))
      }
      checkSentences(shape, at: pointer)
    } else if TextShape.isQuestion(shape.end) {
      checkSentences(shape, at: pointer)
    } else if language == .english, AlertLint.asks(shape) {
      add(.t4, pointer, "a question has no question mark", nil, fix: AlertLint.withoutEnd(shape) + "?")
      checkSentences(shape, at: pointer)
    } else {
      if let end = shape.end {
        add(.t4, pointer, "a single statement ends with \"\(end)\"", nil, fix: AlertLint.withoutEnd(shape))
      }
      checkTitleStyle(shape, rule: .t5, at: pointer)
    }
  }

  private mutating func checkTitleStyle(_ shape: TextShape, rule: LintRule, at pointer: String) {
    guard !isShouted(shape) else { return }
    let faults: [TextShape.Word]
    switch language {
    case .english: faults = shape.wordsOfWrongCase
    case .cased: faults = shape.words.prefix(1).filter { !$0.isExempt && !$0.isCapitalized }
    case .uncased: return
    }
    guard let first = faults.first else { return }
    let what = first.isCapitalized ? "begins with a capital" : "begins with a small letter"
    add(
      rule, pointer, "\"\(first.text)\" \(what); titles have title-style capitals", nil,
      fix: shape.switchingCase(of: faults))
  }

  /// Checks for sentence-style: a capital for the first word and for proper names, which only a human can recognize.
  private mutating func checkSentences(_ shape: TextShape, at pointer: String, rule: LintRule = .t4) {
    guard language != .uncased, !isShouted(shape) else { return }
    let faults = shape.words.filter { $0.isFirst && !$0.isExempt && !$0.isCapitalized }
      .filter { word in shape.words.first.map { $0.text == word.text } ?? false || isAfterSentence(word, in: shape.text)
      }
    if let first = faults.first {
      add(
        .t5, pointer, "\"\(first.text)\" begins a sentence with a small letter", nil,
        fix: shape.switchingCase(of: faults))
    } else if language == .english, shape.hasTitleStyle {
      add(rule, pointer, "sentences are written in title-style", "capitals for the first word and for names only")
    }
  }

  /// Returns true if a sentence ends directly before this word; a word after a colon may begin with a small letter.
  private func isAfterSentence(_ word: TextShape.Word, in text: String) -> Bool {
    text[..<word.text.startIndex].last { !$0.isWhitespace && !"\"'“‘«([".contains($0) }.map(TextShape.isSentenceEnd)
      ?? true
  }

  /// Returns true if a statement has the form of a question: *Are you*, *Is the*, *Do they*.
  private static func asks(_ shape: TextShape) -> Bool {
    guard shape.words.count > 2 else { return false }
    let (first, second) = (shape.words[0].text.lowercased(), shape.words[1].text.lowercased())
    let verbs: Set = [
      "are", "is", "was", "were", "do", "does", "did", "can", "could", "will", "would", "should", "have", "has", "may",
    ]
    let subjects: Set = ["you", "we", "they", "it", "this", "that", "there", "he", "she", "i", "your", "the", "these"]
    return verbs.contains(first) && subjects.contains(second)
  }

  private static func withoutEnd(_ shape: TextShape) -> String {
    var text = shape.text
    while let last = text.last, last.isWhitespace || ".!…。！,;:，；：、".contains(last) { text.removeLast() }
    return text
  }

  // MARK: Messages

  mutating func check(body: String, at pointer: String) {
    begin(body)
    let shape = TextShape(body)
    guard !shape.words.isEmpty else { return }
    if !shape.isClosed, !AlertLint.hasNoPunctuation(body) {
      add(.t6, pointer, "the message does not end in punctuation", nil, fix: body + AlertLint.fullStop(of: body))
    }
    if shape.sentenceCount > 1 {
      add(.t6, pointer, "the message has \(shape.sentenceCount) sentences", "one short sentence")
    }
    let lines = body.split(separator: "\n").count
    let columns = width(body)
    if lines > 2 || columns > 2 * AlertLint.lineWidth {
      let size = lines > 2 ? "has \(lines) lines" : "takes \(columns) columns"
      add(.t6, pointer, "the message \(size) and not two lines", "at most \(2 * AlertLint.lineWidth) columns")
    }
    checkSentences(shape, at: pointer, rule: .t6)
    checkCommon(shape, at: pointer)
  }

  /// Returns the full stop of the script in which a text ends.
  private static func fullStop(of text: String) -> String {
    switch text.unicodeScalars.last(where: { $0.properties.isAlphabetic })?.value ?? 0 {
    case 0x3040...0x30FF, 0x3400...0x9FFF, 0xF900...0xFAFF, 0x20000...0x3FFFF: "。"
    case 0x0900...0x0AFF, 0x0B00...0x0B7F: "।"
    case 0x0600...0x06FF where text.unicodeScalars.contains("\u{06D2}"): "۔"
    default: "."
    }
  }

  /// Returns true for Thai, Lao, Khmer, Burmese and Tibetan, which end sentences with a space or their own marks.
  private static func hasNoPunctuation(_ text: String) -> Bool {
    guard let last = text.unicodeScalars.last(where: { $0.properties.isAlphabetic }) else {
      // Numbers, addresses and pictures are not sentences.
      return true
    }
    return (0x0E00...0x0FFF).contains(last.value) || (0x1000...0x109F).contains(last.value)
      || (0x1780...0x17FF).contains(last.value)
  }

  // MARK: Buttons

  mutating func check(button: String, at pointer: String) {
    begin(button)
    let shape = TextShape(button)
    guard !shape.words.isEmpty, !AlertLint.isKey(button) else { return }
    if shape.words.count > 2 || language == .uncased && width(button) > 12 {
      add(.t9, pointer, "the button has \(shape.words.count) words", "one or two, as \"View Order\"")
    }
    let bare = button.filter { !$0.isPunctuation || "-’'&".contains($0) }
    let word = bare.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    // "Yes" would not be a valid fix of "Yes!".
    if AlertLint.yesAndNo.contains(word.lowercased()) {
      add(.t9, pointer, "the button only says \(word)", "the verb that answers the text, as \"Delete\"")
    } else if bare != button {
      add(.t9, pointer, "the button has punctuation", nil, fix: bare)
    }
    checkTitleStyle(shape, rule: .t9, at: pointer)
    checkPersons(shape, in: "button", at: pointer)
    if isShouted(shape) { add(.t10, pointer, "the button is all in capitals", "title-style capitals") }
  }

  /// Returns true for a key of a strings file, such as `PLAY_BUTTON`.
  static func isKey(_ text: String) -> Bool {
    text.contains { $0 == "_" || $0 == "." } && !text.contains(where: \.isWhitespace)
  }

  // MARK: All texts

  private mutating func checkPersons(_ shape: TextShape, in what: String, at pointer: String) {
    let word: String?
    switch language {
    case .english:
      word = shape.words.first { AlertLint.personsEnglish.contains($0.text.lowercased()) }.map { String($0.text) }
    case .cased:
      word = shape.words.first { AlertLint.personsForeign.contains($0.text.lowercased()) }.map { String($0.text) }
    case .uncased: word = AlertLint.personsUnspaced.first { shape.text.contains($0) }
    }
    if let word {
      add(.t7, pointer, "the \(what) says \"\(word)\"", "the subject itself, without you, your, me and my")
    }
  }

  private mutating func checkCommon(_ shape: TextShape, at pointer: String) {
    if isShouted(shape) { add(.t10, pointer, "the text is all in capitals", "capitals where a sentence has them") }
    let lowercased = shape.text.lowercased()
    if shape.text.contains("!!") || shape.text.contains("！！") || shape.text.contains("?!") {
      add(.t10, pointer, "the text has several exclamation marks", "one mark, or a full stop")
    } else if let word = shape.words.first(where: { AlertLint.chummy.contains($0.text.lowercased()) }),
      language == .english
    {
      add(.t10, pointer, "\"\(word.text)\" is chummy", "the event, in friendly words")
    }
    checkButtonsExplained(shape, at: pointer)
    let bytes = Array(lowercased.utf8)
    if let needless = AlertLint.needless.first(where: { bytes.contains($0.phrase) }) {
      add(
        .a10, pointer, "the alert \(needless.why)",
        "no alert: a badge, or an interruption-level of passive for the notification center")
    }
  }

  /// Checks T8: a text does not explain what a button does.
  private mutating func checkButtonsExplained(_ shape: TextShape, at pointer: String) {
    let isExplained: Bool
    if language == .uncased {
      isExplained = AlertLint.pressingUnspaced.contains { shape.text.contains($0) }
    } else {
      let words = shape.words.map { $0.text.lowercased() }
      isExplained = words.indices.contains { index in
        guard AlertLint.pressing.contains(words[index]), index + 1 < words.count else { return false }
        return words[(index + 1)..<min(index + 5, words.count)].contains { AlertLint.pressed.contains($0) }
          || (words[index] == "tap" || words[index] == "click") && words[index + 1] == "to"
      }
    }
    if isExplained {
      add(
        .t8, pointer, "the text explains a button", "no explanation; if there must be one, say tap and quote no button")
    }
  }

  /// Returns true if the text is mostly capitals; words of up to four letters are ignored as possible abbreviations.
  private func isShouted(_ shape: TextShape) -> Bool {
    guard language != .uncased else { return false }
    let long = shape.words.filter { word in word.text.count { $0.isLetter } > 4 && !AlertLint.isKey(String(word.text)) }
    guard !long.isEmpty else { return false }
    let shouted = long.count { word in !word.text.contains { $0.isLowercase } && word.text.contains { $0.isUppercase } }
    guard shouted * 2 > long.count else { return false }
    let capitals = shape.text.count { $0.isUppercase }
    return capitals > shape.text.count { $0.isLowercase }
  }

  private mutating func add(
    _ rule: LintRule, _ pointer: String, _ message: String, _ advice: String?, fix: String? = nil
  ) {
    findings.append(
      LintFinding(rule, at: pointer, message, advice: advice ?? fix.map(\.evidence) ?? "", fix: fix))
  }
}
