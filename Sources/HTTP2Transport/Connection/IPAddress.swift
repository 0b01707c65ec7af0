import Glibc

/// An IPv4 or IPv6 address. An IPv4 address equals its IPv4-mapped IPv6 form (RFC 4291 §2.5.5.2).
package struct IPAddress: Hashable, Sendable, CustomStringConvertible {
  /// The four or sixteen bytes of the address.
  package let bytes: [UInt8]

  /// - Parameter bytes: four or sixteen bytes; nil results for any other count.
  init?(bytes: ArraySlice<UInt8>) {
    switch bytes.count {
    case 4: self.bytes = Array(bytes)
    case 16:
      let isMapped = bytes.prefix(10).allSatisfy { $0 == 0 } && bytes.dropFirst(10).prefix(2).allSatisfy { $0 == 0xFF }
      self.bytes = Array(isMapped ? bytes.suffix(4) : bytes)
    default: return nil
    }
  }

  /// - Parameter text: an address in the format of `inet_pton(3)`; nil results for anything else.
  package init?(_ text: String) {
    var bytes = [UInt8](repeating: 0, count: 16)
    if unsafe inet_pton(AF_INET, text, &bytes) == 1 {
      self.init(bytes: bytes[..<4])
    } else if unsafe inet_pton(AF_INET6, text, &bytes) == 1 {
      self.init(bytes: bytes[...])
    } else {
      return nil
    }
  }

  package var isLoopback: Bool {
    bytes.count == 4 ? bytes[0] == 127 : bytes.dropLast().allSatisfy { $0 == 0 } && bytes[15] == 1
  }

  /// The address in the format of `inet_ntop(3)`.
  package var description: String {
    var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    let family = bytes.count == 4 ? AF_INET : AF_INET6
    guard unsafe inet_ntop(family, bytes, &text, socklen_t(text.count)) != nil else { return "" }
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
