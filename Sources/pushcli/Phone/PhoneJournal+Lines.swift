import Foundation
import PushPolicy

extension PhoneJournal {
  /// Returns `records` as lines: 16 hexadecimal digits of a checksum, a space, JSON.
  static func lines(_ records: [JournalRecord]) -> [UInt8] {
    var lines: [UInt8] = []
    var json: [UInt8] = []
    for record in records {
      json.removeAll(keepingCapacity: true)
      record.appendJSON(to: &json)
      for line in json.split(separator: UInt8(ascii: "\n")) {
        let digits = String(checkSum(line), radix: 16)
        lines += String(repeating: "0", count: 16 - digits.count).utf8
        lines += digits.utf8
        lines.append(UInt8(ascii: " "))
        lines += line
        lines.append(UInt8(ascii: "\n"))
      }
    }
    return lines
  }

  /// Returns the state that the lines of `bytes` lead to, the number of valid bytes, and a description of the fault.
  /// A torn end is not a fault.
  static func read(_ bytes: [UInt8]) -> (state: PhoneState, size: Int, fault: String?) {
    var state = PhoneState()
    let (size, fault) = read(bytes, into: &state, isBeginning: true) { _ in }
    return (state, size, fault)
  }

  /// Applies the lines of `bytes` to `state`.
  ///
  /// - Parameters:
  ///   - isBeginning: True if `bytes` are the beginning of the file, which contains the version.
  ///   - note: Called with each change.
  /// - Returns: The number of valid bytes, and a description of the fault; a torn end is not a fault.
  static func read(
    _ bytes: [UInt8], into state: inout PhoneState, isBeginning: Bool, note: (PhoneChange) -> Void
  ) -> (size: Int, fault: String?) {
    let parser = JSONParser(maximumDepth: JSONParser.maximumLineDepth)
    var start = 0
    while let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) {
      let line = bytes[start..<end]
      let isFirst = isBeginning && start == 0
      guard let json = checked(line), let record = JournalRecord(Array(json), parser: parser) else {
        // A line torn by a crash is always the last line.
        let isTorn = bytes[(end + 1)...].isEmpty && !isFirst
        return (start, isTorn ? nil : isFirst ? "can't be read" : "is damaged in part")
      }
      if isFirst {
        guard case .head(let version) = record else { return (0, "can't be read") }
        if version > JournalRecord.version { return (0, "was written by a newer version and can't be read") }
      }
      state.apply(record)
      if case .change(let change) = record { note(change) }
      start = end + 1
    }
    return (start, nil)
  }

  /// Returns the JSON of a line if its checksum is correct.
  private static func checked(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    guard line.count > 17, line[line.startIndex + 16] == UInt8(ascii: " ") else { return nil }
    let json = line[(line.startIndex + 17)...]
    let sum = UInt64(String(decoding: line.prefix(16), as: UTF8.self), radix: 16)
    return sum == checkSum(json) ? json : nil
  }

  /// Calculates a checksum that detects torn and damaged lines; it has no other purpose (FNV-1a over words of eight
  /// bytes).
  private static func checkSum(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    var sum: UInt64 = 0xCBF2_9CE4_8422_2325
    func mix(_ word: UInt64) {
      sum = (sum ^ word) &* 0x100_0000_01B3
      sum ^= sum >> 29
    }
    unsafe bytes.withUnsafeBytes { buffer in
      var place = 0
      while place + 8 <= buffer.count {
        mix(unsafe buffer.loadUnaligned(fromByteOffset: place, as: UInt64.self).littleEndian)
        place += 8
      }
      for index in place..<buffer.count { mix(unsafe UInt64(buffer[index])) }
    }
    mix(UInt64(bytes.count))
    return sum
  }
}
