import Foundation

/// Reads the length of a sound file from its header, so that long sounds are detected before they play (S2).
enum SoundFile {
  /// The maximum length of a sound in seconds.
  static let maximumLength = 30.0
  /// The number of bytes that are read at each end of a file: the maximum size of an Ogg page.
  private static let windowSize = 65_536

  /// Returns the length of the file at `path` in seconds. The formats are WAV, AIFF, Ogg Vorbis and Opus; nil for
  /// others.
  static func length(_ path: String) -> Double? {
    guard let file = FileHandle(forReadingAtPath: path), let size = try? file.seekToEnd() else { return nil }
    defer { try? file.close() }
    let start = size - min(size, UInt64(windowSize))
    guard (try? file.seek(toOffset: start)) != nil, let tail = try? file.readToEnd(),
      (try? file.seek(toOffset: 0)) != nil, let head = try? file.read(upToCount: windowSize)
    else { return nil }
    return length(head: [UInt8](head), tail: [UInt8](tail), size: Int(size))
  }

  /// Returns the length as ``length(_:)`` does, from the first and the last bytes of a file of `size` bytes.
  static func length(head: [UInt8], tail: [UInt8], size: Int) -> Double? {
    if has("RIFF", head, at: 0), has("WAVE", head, at: 8) { return wave(head, size: size) }
    if has("FORM", head, at: 0), has("AIFF", head, at: 8) || has("AIFC", head, at: 8) { return aiff(head) }
    if has("OggS", head, at: 0) { return ogg(head, tail) }
    return nil
  }

  private static func wave(_ head: [UInt8], size: Int) -> Double? {
    var byteRate = 0
    return chunks(head, isBigEndian: false) { name, offset, count in
      if name == "fmt " { byteRate = number(head, at: offset + 8, count: 4) ?? 0 }
      guard name == "data", byteRate > 0 else { return nil }
      // A WAV file that was recorded into a pipe has no valid size.
      return Double(min(count, size - offset)) / Double(byteRate)
    }
  }

  private static func aiff(_ head: [UInt8]) -> Double? {
    chunks(head, isBigEndian: true) { name, offset, _ in
      guard name == "COMM", let frames = number(head, at: offset + 2, count: 4, isBigEndian: true),
        // An 80-bit float: the exponent, then the mantissa with its leading one.
        let exponent = number(head, at: offset + 8, count: 2, isBigEndian: true),
        let mantissa = number(head, at: offset + 10, count: 4, isBigEndian: true)
      else { return nil }
      let rate = Double(mantissa) * pow(2, Double(exponent - 16_383 - 31))
      return rate > 0 ? Double(frames) / rate : nil
    }
  }

  /// Calls `body` with the name, the offset of the contents and the size of each chunk, and returns its first result.
  private static func chunks(
    _ head: [UInt8], isBigEndian: Bool, _ body: (_ name: String, _ offset: Int, _ count: Int) -> Double?
  ) -> Double? {
    var offset = 12
    while let count = number(head, at: offset + 4, count: 4, isBigEndian: isBigEndian) {
      if let answer = body(String(decoding: head[offset..<offset + 4], as: UTF8.self), offset + 8, count) {
        return answer
      }
      offset += 8 + count + count % 2
    }
    return nil
  }

  /// Returns the length according to the sample position at the end of the last page (RFC 3533 §6).
  private static func ogg(_ head: [UInt8], _ tail: [UInt8]) -> Double? {
    guard let segments = number(head, at: 26, count: 1) else { return nil }
    let packet = 27 + segments
    let rate =
      has("\u{1}vorbis", head, at: packet)
      ? number(head, at: packet + 12, count: 4) : has("OpusHead", head, at: packet) ? 48_000 : nil
    guard let rate, rate > 0, let page = tail.indices.last(where: { has("OggS", tail, at: $0) }),
      let position = number(tail, at: page + 6, count: 8), position >= 0
    else { return nil }
    return Double(position) / Double(rate)
  }

  private static func has(_ text: String, _ bytes: [UInt8], at offset: Int) -> Bool {
    offset <= bytes.count && bytes[offset...].starts(with: text.utf8)
  }

  private static func number(_ bytes: [UInt8], at offset: Int, count: Int, isBigEndian: Bool = false) -> Int? {
    guard offset >= 0, offset <= bytes.count - count else { return nil }
    let digits = bytes[offset..<offset + count]
    return Int(
      truncatingIfNeeded: (isBigEndian ? Array(digits) : digits.reversed()).reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
  }
}
