import Glibc
import PushCore

/// What a test writes into each push and finds again where it arrives: which test, who sent it to whom, the how manieth of
/// these two, and when it was intended.
///
/// In the payload it is a top-level key of fixed width, so that it is written over in place and read without parsing.
package struct LoadTag: Equatable {
  /// The test, so that what an earlier one left behind is not counted.
  package var run: UInt16
  package var provider: UInt16
  package var device: UInt32
  /// Counts from 0 for each pair of provider and device.
  package var number: UInt32
  /// Nanoseconds after the test's start, up to ``maximumIntended``.
  package var intended: UInt64

  /// 78 hours.
  package static let maximumIntended: UInt64 = (1 << 48) - 1
  /// Hex digits of a mark.
  package static let size = 4 + 4 + 8 + 8 + 12
  /// What stands before the digits.
  package static let key = Array(#""mark":""#.utf8)
  /// What a line of the gateway ends with after the digits.
  private static let tailSize = 3

  /// Writes the digits.
  package func write(to digits: UnsafeMutableRawBufferPointer) {
    var offset = 0
    func put(_ value: UInt64, _ width: Int) {
      for digit in stride(from: 4 * (width - 1), through: 0, by: -4) {
        unsafe digits[offset] = hexDigit(UInt8(truncatingIfNeeded: value >> UInt64(digit)) & 15)
        offset += 1
      }
    }
    put(UInt64(run), 4)
    put(UInt64(provider), 4)
    put(UInt64(device), 8)
    put(UInt64(number), 8)
    put(intended, 12)
  }

  /// Reads the digits; nil when they are none.
  package init?(digits: UnsafeRawBufferPointer) {
    guard digits.count >= LoadTag.size else { return nil }
    var offset = 0
    var isHex = true
    func take(_ width: Int) -> UInt64 {
      var value: UInt64 = 0
      for _ in 0..<width {
        guard let digit = unsafe hexValue(digits[offset]) else {
          isHex = false
          return 0
        }
        value = value << 4 | UInt64(digit)
        offset += 1
      }
      return value
    }
    run = UInt16(take(4))
    provider = UInt16(take(4))
    device = UInt32(take(8))
    number = UInt32(take(8))
    intended = take(12)
    if !isHex { return nil }
  }

  package init(run: UInt16, provider: UInt16, device: UInt32, number: UInt32, intended: UInt64) {
    self.run = run
    self.provider = provider
    self.device = device
    self.number = number
    self.intended = intended
  }

  /// Finds the mark in a line: at its usual place near the end, else wherever it is.
  package init?(line: UnsafeRawBufferPointer) {
    let usual = line.count - LoadTag.tailSize - LoadTag.size - LoadTag.key.count
    if usual >= 0, unsafe memcmp(line.baseAddress! + usual, LoadTag.key, LoadTag.key.count) == 0 {
      unsafe self.init(digits: .init(rebasing: line[(usual + LoadTag.key.count)...]))
      return
    }
    for offset in line.indices.dropLast(LoadTag.key.count + LoadTag.size - 1)
    where unsafe line[offset...].starts(with: LoadTag.key) {
      unsafe self.init(digits: .init(rebasing: line[(offset + LoadTag.key.count)...]))
      return
    }
    return nil
  }
}

/// A payload of a chosen size with a place for a ``LoadTag``.
package struct MarkedPayload {
  package private(set) var bytes: [UInt8]

  private static let head = Array(#"{"aps":{"alert":{"title":"Train in 5 Minutes","body":""#.utf8)
  private static let middle = Array(#""}},"#.utf8)
  private static let end = Array(#""}"#.utf8)
  private static let words = Array("Platform 4, coaches 21 to 28 stop in section B. ".utf8)

  /// The smallest payload that has room for a mark.
  package static let minimumSize = head.count + middle.count + LoadTag.key.count + LoadTag.size + end.count

  /// - Precondition: `size` is at least ``minimumSize``.
  package init(size: Int) {
    precondition(size >= MarkedPayload.minimumSize, "a payload has space for its mark")
    bytes = MarkedPayload.head
    for offset in 0..<(size - MarkedPayload.minimumSize) {
      bytes.append(MarkedPayload.words[offset % MarkedPayload.words.count])
    }
    bytes += MarkedPayload.middle + LoadTag.key
    bytes += [UInt8](repeating: UInt8(ascii: "0"), count: LoadTag.size)
    bytes += MarkedPayload.end
  }

  /// Writes a mark in.
  package mutating func set(_ mark: LoadTag) {
    let end = bytes.count - MarkedPayload.end.count
    unsafe bytes.withUnsafeMutableBytes { unsafe mark.write(to: .init(rebasing: $0[(end - LoadTag.size)..<end])) }
  }
}
