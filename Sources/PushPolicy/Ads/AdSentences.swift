/// The sentences of a text, as ranges of its UTF-8.
///
/// A sentence ends after `.`, `!` or `?` before a blank or the end, after `。`, `！` or `？`, and at a line break.
enum AdSentences {
  /// Returns the range of the next sentence from `position` on, in bytes, without the blanks before it, and advances
  /// `position` to its end; nil after the last one.
  static func next(in text: Span<UInt8>, from position: inout Int) -> Range<Int>? {
    while position < text.count, isBlank(text[position]) { position += 1 }
    guard position < text.count else { return nil }
    let start = position
    while position < text.count {
      let byte = text[position]
      position += 1
      if byte == UInt8(ascii: "\n") { return start..<position - 1 }
      let isAtBlank = position == text.count || isBlank(text[position])
      if isAtBlank, byte == UInt8(ascii: ".") || byte == UInt8(ascii: "!") || byte == UInt8(ascii: "?") { break }
      if position - start >= 3, isWideEnd(text[position - 3], text[position - 2], byte) { break }
    }
    return start..<position
  }

  private static func isBlank(_ byte: UInt8) -> Bool { byte == 32 || (9...13).contains(byte) }

  /// Returns true for the UTF-8 of `。`, `！` or `？`.
  private static func isWideEnd(_ first: UInt8, _ second: UInt8, _ third: UInt8) -> Bool {
    switch (first, second, third) {
    case (0xE3, 0x80, 0x82), (0xEF, 0xBC, 0x81), (0xEF, 0xBC, 0x9F): true
    default: false
    }
  }

  /// Returns the sentence around a position of a text, in bytes of UTF-8; the whole text for a position outside of it.
  static func sentence(at position: Int, of text: String) -> String {
    let bytes = text.utf8.span
    var next = 0
    while let range = AdSentences.next(in: bytes, from: &next) {
      if position < range.upperBound { return text.part(range) }
    }
    return text
  }
}

extension AdDetector {
  /// The minimum size in bytes of a sentence that is assessed alone: a shorter one has too few features.
  private static let minimumSentenceSize = 8

  /// Returns the first sentence of a text that would be refused as an alert of its own; nil if there is none, or if
  /// the text is one sentence, which is assessed with the alert. It allocates nothing.
  func refusedSentence(of text: String) -> Range<Int>? {
    let bytes = text.utf8.span
    var position = 0
    guard let first = AdSentences.next(in: bytes, from: &position) else { return nil }
    var next = AdSentences.next(in: bytes, from: &position)
    if next == nil { return nil }
    if isRefused(bytes.extracting(first)) { return first }
    while let range = next {
      if isRefused(bytes.extracting(range)) { return range }
      next = AdSentences.next(in: bytes, from: &position)
    }
    return nil
  }

  /// Returns the largest score that the characters of a text or of one of its sentences add, for the training program;
  /// nil if none of them is short (``shortSize``) and long enough to be assessed alone.
  package func largestCharacterScore(of text: String) -> Float? {
    let bytes = text.utf8.span
    var position = 0
    var range: Range<Int>? = 0..<bytes.count
    var largest: Float?
    while let part = range {
      range = AdSentences.next(in: bytes, from: &position)
      guard part.count >= Self.minimumSentenceSize else { continue }
      begin()
      add(bytes.extracting(part))
      guard reader.unitCount <= Self.shortSize else { continue }
      reader.tokenize()
      let score = characterScore()
      largest = max(largest ?? score, score)
    }
    return largest
  }

  /// Returns true if a sentence would be refused as an alert of its own.
  private func isRefused(_ sentence: Span<UInt8>) -> Bool {
    guard sentence.count >= Self.minimumSentenceSize else { return false }
    begin()
    add(sentence)
    return outcome(from: .refuse) == .refuse
  }
}

extension String {
  /// Returns the part at a range of its UTF-8.
  func part(_ range: Range<Int>) -> String { String(decoding: Array(utf8)[range], as: UTF8.self) }
}
