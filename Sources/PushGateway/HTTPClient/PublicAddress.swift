import HTTP2Transport

extension EventURL {
  /// Returns the reason for refusing an address of a host that a user chose; nil for a public address over `https`. Other
  /// addresses would be a path for users into the operator's networks.
  func refusal(ofPublic address: IPAddress?) -> String? {
    guard isSecure else { return "its address has no https" }
    return address?.isPublic == true ? nil : "its address is not public"
  }
}

extension IPAddress {
  /// True for an address of the public internet (IANA's registries of special addresses). An IPv6 address with an embedded
  /// IPv4 address counts as the IPv4 address.
  var isPublic: Bool {
    if bytes.count == 4 { return IPAddress.isPublic(bytes) }
    // NAT64 (RFC 6052) and 6to4 (RFC 3056).
    if bytes.starts(with: [0, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0]) {
      return IPAddress.isPublic(Array(bytes[12...]))
    }
    if bytes.starts(with: [0x20, 0x02]) { return IPAddress.isPublic(Array(bytes[2..<6])) }
    // Global unicast without Teredo, documentation and other protocols.
    return bytes[0] & 0xE0 == 0x20 && !(bytes[0] == 0x20 && bytes[1] == 1 && bytes[2] < 2)
      && !bytes.starts(with: [0x20, 1, 0x0D, 0xB8]) && !(bytes[0] == 0x3F && bytes[1] == 0xFF && bytes[2] < 0x10)
  }

  private static func isPublic(_ bytes: [UInt8]) -> Bool {
    switch (bytes[0], bytes[1]) {
    case (0, _), (10, _), (127, _), (169, 254), (192, 168), (198, 18...19), (224..., _): false
    case (100, let second): second & 0xC0 != 64
    case (172, let second): second & 0xF0 != 16
    case (192, 0): bytes[2] != 0 && bytes[2] != 2
    case (198, 51): bytes[2] != 100
    case (203, 0): bytes[2] != 113
    default: true
    }
  }
}
