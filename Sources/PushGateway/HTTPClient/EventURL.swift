import HTTP2Transport
import PushCore
import PushStorage

/// The address of an event target or of a push service: `https`, or `http` on this machine.
struct EventURL: Sendable, Equatable {
  let isSecure: Bool
  /// A name or an address, without brackets.
  let host: String
  let port: Int
  /// The host with its port, as the address has them: the field `host`.
  let authority: String
  /// The path with the query.
  let path: String

  /// Parses an address.
  ///
  /// - Throws: a refusal for any address but `https://HOST[:PORT][/PATH][?QUERY]`, and the same with `http` for this
  ///   machine.
  init(_ text: String) throws(RegistrationRefusal) {
    guard text.utf8.count <= Limits.maximumEventAddressSize, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw EventURL.invalid("at most \(Limits.maximumEventAddressSize) characters of ASCII without spaces")
    }
    let scheme = text.prefix { $0 != ":" }
    guard ["https", "http"].contains(scheme.lowercased()), text.dropFirst(scheme.count).hasPrefix("://") else {
      throw EventURL.invalid("https://HOST/PATH, or http:// for a server on this machine")
    }
    isSecure = scheme.utf8.count == 5
    let rest = text.dropFirst(scheme.count + 3)
    let end = rest.firstIndex { "/?#".contains($0) } ?? rest.endIndex
    authority = String(rest[..<end])
    let tail = rest[end...]
    guard !tail.contains("#"), !authority.contains("@") else {
      throw EventURL.invalid("no user name, no password and no fragment: the signature authenticates the gateway")
    }
    path = tail.hasPrefix("/") ? String(tail) : "/" + String(tail)
    (host, port) = try EventURL.place(authority, port: isSecure ? 443 : 80)
    guard isSecure || host.lowercased() == "localhost" || IPAddress(host)?.isLoopback == true else {
      throw EventURL.invalid("https for every server but one on this machine (localhost, 127.0.0.1, [::1])")
    }
  }

  private static func place(_ authority: String, port: Int) throws(RegistrationRefusal) -> (host: String, port: Int) {
    let (host, rest): (Substring, Substring)
    if authority.hasPrefix("["), let close = authority.firstIndex(of: "]") {
      host = authority[..<close].dropFirst()
      rest = authority[authority.index(after: close)...]
      guard host.contains(":"), IPAddress(String(host)) != nil else { throw invalid("an address of IPv6 in brackets") }
    } else {
      let colon = authority.firstIndex(of: ":") ?? authority.endIndex
      (host, rest) = (authority[..<colon], authority[colon...])
      let isName = host.utf8.allSatisfy { byte in
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) || "0123456789-._".utf8.contains(byte)
      }
      guard isName, (1...253).contains(host.utf8.count) else { throw invalid("the name or the address of a host") }
    }
    if rest.isEmpty { return (String(host), port) }
    guard rest.hasPrefix(":"), let number = UInt16(rest.dropFirst()), number > 0 else {
      throw invalid("a port from 1 to 65535")
    }
    return (String(host), Int(number))
  }

  private static func invalid(_ expected: String) -> RegistrationRefusal {
    RegistrationRefusal(kind: .invalid, description: "invalid address of an event target: expected \(expected)")
  }

  /// Returns the reason for refusing an address of the host; nil for a permitted address.
  ///
  /// Private addresses are permitted, because only an administrator names a target, and because TLS requires a
  /// certificate for the name; ``refusal(ofPublic:)`` refuses them for push services. Link-local, multicast and unspecified
  /// addresses are refused, among them the metadata services of clouds.
  func refusal(of address: IPAddress?) -> String? {
    guard let bytes = address?.bytes, bytes.count == 4 || bytes.count == 16 else { return "its address is unknown" }
    guard isSecure || address?.isLoopback == true else { return "http is for servers on this machine only: use https" }
    let isOfServer: Bool
    if bytes.count == 4 {
      isOfServer = bytes[0] != 0 && bytes[0] < 224 && !(bytes[0] == 169 && bytes[1] == 254)
    } else {
      isOfServer = bytes[0] != 0xFF && !(bytes[0] == 0xFE && bytes[1] & 0xC0 == 0x80) && !bytes.allSatisfy { $0 == 0 }
    }
    return isOfServer ? nil : "its address is link-local, multicast or unspecified: use the address of a server"
  }
}
