import Glibc
import PushCore

/// The tag that a test writes into each push and reads at its arrival: the test, the provider, the device, the number
/// of the push between the two, and the intended time.
///
/// In the payload it is a top-level key of fixed width, so that it is overwritten in place and read without parsing.
package struct LoadTag: Equatable {
  /// The identifier of the test, so that pushes of an earlier test are not counted.
  package var run: UInt16
  package var provider: UInt16
  package var device: UInt32
  /// The number of the push, from 0 for each pair of provider and device.
  package var number: UInt32
  /// The intended time of sending, in nanoseconds after the start of the test, up to ``maximumIntended``.
  package var intended: UInt64

  /// The maximum of ``intended``: 78 hours.
  package static let maximumIntended: UInt64 = (1 << 48) - 1
  /// The number of hex digits of a tag.
  package static let size = 4 + 4 + 8 + 8 + 12
  /// The key and quote before the digits.
  package static let key = Array(#""mark":""#.utf8)
  /// The number of bytes after the digits in a line of the gateway.
  private static let tailSize = 3
}

extension LoadTag {
  /// Writes the tag as ``size`` hex digits.
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

  /// Reads the tag from hex digits; nil if they are too few or not hex digits.
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

  /// Finds the tag in a line: first at its usual position near the end, then at any position.
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

/// A payload of a given size that contains a ``LoadTag``.
package struct MarkedPayload {
  package private(set) var bytes: [UInt8]

  private static let head = Array(#"{"aps":{"alert":{"title":"Train in 5 Minutes","body":""#.utf8)
  private static let middle = Array(#""}},"#.utf8)
  private static let end = Array(#""}"#.utf8)
  private static let words = Array("Platform 4, coaches 21 to 28 stop in section B. ".utf8)

  /// The size in bytes of the smallest payload that contains a tag.
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

  /// Overwrites the tag in the payload.
  package mutating func set(_ mark: LoadTag) {
    let end = bytes.count - MarkedPayload.end.count
    unsafe bytes.withUnsafeMutableBytes { unsafe mark.write(to: .init(rebasing: $0[(end - LoadTag.size)..<end])) }
  }
}
