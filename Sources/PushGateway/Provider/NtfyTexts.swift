import PushCore
import PushPolicy

/// The times of ntfy's parameter `delay`.
enum NtfyDelay {
  private static let units: [(names: [String], seconds: Int64)] = [
    (["s", "sec", "secs", "second", "seconds"], 1), (["m", "min", "mins", "minute", "minutes"], 60),
    (["h", "hr", "hrs", "hour", "hours"], 3600), (["d", "day", "days"], 86_400),
  ]

  /// Returns the time of a delay, in seconds since 1970: of durations such as `30m`, `1h30m` and `2 days`, or the number
  /// itself.
  ///
  /// - Parameter now: seconds since 1970.
  /// - Returns: nil for any other text, also for the phrases of ntfy such as `tomorrow, 10am`.
  static func time(_ text: String, now: Int64) -> Int64? {
    ReadingSteps.add(text.utf8.count)
    if let time = Int64(text) { return time }
    var rest = Array(text.lowercased().utf8)[...]
    var total: Int64 = 0
    while !rest.isEmpty {
      let digits = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
      rest = rest.dropFirst(digits.count).drop { $0 == 0x20 }
      let word = rest.prefix { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) }
      rest = rest.dropFirst(word.count).drop { $0 == 0x20 }
      let name = String(decoding: word, as: UTF8.self)
      guard let number = Int64(String(decoding: digits, as: UTF8.self)),
        let unit = units.first(where: { $0.names.contains(name) })
      else { return nil }
      let (seconds, isTooLong) = number.multipliedReportingOverflow(by: unit.seconds)
      guard !isTooLong, seconds <= Limits.maximumTime else { return nil }
      total += seconds
      guard total <= Limits.maximumTime else { return nil }
    }
    return total > 0 ? now + total : nil
  }
}

/// The encoded words of fields (RFC 2047): `=?UTF-8?B?…?=` and `=?UTF-8?Q?…?=`.
enum EncodedWords {
  /// Returns a text with its encoded words decoded; words of another character set than UTF-8 stay.
  static func decoded(_ text: String) -> String {
    ReadingSteps.add(text.utf8.count)
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    /// The spaces after an encoded word, which are dropped before another one; nil after any other text.
    var spaces: [UInt8]?
    var mayHaveWord = true
    while let byte = rest.first {
      if byte == UInt8(ascii: "="), mayHaveWord, let (value, end) = word(rest, &mayHaveWord) {
        bytes += value
        rest = rest[end...]
        spaces = []
      } else {
        rest.removeFirst()
        if byte == 0x20, spaces != nil {
          spaces?.append(byte)
        } else {
          bytes += spaces ?? []
          spaces = nil
          bytes.append(byte)
        }
      }
    }
    return String(decoding: bytes + (spaces ?? []), as: UTF8.self)
  }

  /// Reads an encoded word at the beginning of `text`.
  ///
  /// - Parameter mayHaveWord: set to false if no later position can have one.
  /// - Returns: the decoded bytes and the index after the word; nil if there is none.
  private static func word(_ text: ArraySlice<UInt8>, _ mayHaveWord: inout Bool) -> (value: [UInt8], end: Int)? {
    let head = Array(String(decoding: text.prefix(10), as: UTF8.self).lowercased().utf8)
    guard head.count == 10, head.starts(with: "=?utf-8?".utf8), head[9] == UInt8(ascii: "?") else { return nil }
    let body = text.dropFirst(10)
    guard let end = body.firstIndex(of: UInt8(ascii: "?")) else {
      mayHaveWord = false
      return nil
    }
    guard end + 1 < body.endIndex, body[end + 1] == UInt8(ascii: "=") else { return nil }
    switch head[8] {
    case UInt8(ascii: "b"): return Base64URL.decode(body[..<end]).map { ($0, end + 2) }
    case UInt8(ascii: "q"):
      return (decodedEscapes(body[..<end], mark: UInt8(ascii: "="), space: UInt8(ascii: "_")), end + 2)
    default: return nil
    }
  }
}
