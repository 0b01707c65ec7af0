import PushCore
import PushPolicy

/// The voluntary identification of a sender of Web Push (RFC 8292): a token with its signature, and the public key.
struct VAPIDToken {
  /// The public key as a point.
  let key: [UInt8]
  private let token: CompactToken

  static let malformed = MessageRefusal(
    401, "BadAuthorization", "authorization: expected `vapid t=TOKEN, k=KEY` with a token of ES256 (RFC 8292)")

  /// Reads the value of `authorization`, without the verification of the signature.
  init(_ field: String) throws(MessageRefusal) {
    ReadingSteps.add(field.utf8.count)
    let scheme = field.prefix { $0 != " " }
    guard scheme.lowercased() == "vapid" else { throw VAPIDToken.malformed }
    var values: [String: String] = [:]
    for parameter in field.dropFirst(scheme.count).split(separator: ",") {
      let sides = parameter.split(separator: "=", maxSplits: 1).map { side in side.filter { $0 != " " && $0 != "\"" } }
      if sides.count == 2 { values[sides[0].lowercased()] = sides[1] }
    }
    guard let key = values["k"].flatMap({ Base64URL.decode($0.utf8) }), key.count == ES256Key.pointSize,
      let token = values["t"].flatMap({ CompactToken(Array($0.utf8)) })
    else { throw VAPIDToken.malformed }
    (self.key, self.token) = (key, token)
  }

  /// Verifies the signature, the audience and the time.
  ///
  /// - Parameters:
  ///   - origin: the origin of the endpoint.
  ///   - now: seconds since 1970.
  func verify(origin: String, parser: JSONParser, now: Int64) throws(MessageRefusal) {
    let algorithm = (try? parser.parse(token.header.span) { $0["alg"]?.string }) ?? nil
    guard algorithm == ES256Key.Algorithm.es256.rawValue, let signer = try? ES256Key(publicPoint: key),
      token.signature.count == 64, signer.verifies(token.signature, of: token.signed)
    else { throw VAPIDToken.refusal("the signature does not belong to the key k: sign the token with its private key") }
    let claims = try? parser.parse(token.claims.span) { root in
      var audiences: [String] = []
      if let audience = root["aud"]?.string { audiences.append(audience) }
      root["aud"]?.forEachElement { if let audience = $0.string { audiences.append(audience) } }
      return (audiences: audiences, expires: root["exp"]?.double)
    }
    guard let claims, claims.audiences.contains(where: { WebPushOrigin.isAudience($0, of: origin) }) else {
      throw VAPIDToken.refusal("aud: expected the origin of the endpoint, \(origin)")
    }
    let latest = now + Limits.maximumVAPIDValidity + Int64(Limits.maximumTokenSkew)
    guard let expires = claims.expires, expires > Double(now), expires <= Double(latest) else {
      throw VAPIDToken.refusal("exp: expected a time in the next 24 hours, in seconds since 1970")
    }
  }

  static func refusal(_ words: String) -> MessageRefusal { MessageRefusal(403, "InvalidToken", words) }
}

/// The scheme, host and port of an address (RFC 6454).
enum WebPushOrigin {
  /// The maximum size of an origin in bytes: a scheme, and the longest host name with its port.
  private static let maximumSize = 8 + Limits.maximumAddressSize

  /// Returns true for an audience that names an origin. An audience without a port names the host with every port, because
  /// some libraries omit the port of an endpoint.
  static func isAudience(_ text: String, of origin: String) -> Bool {
    guard let audience = read(text) else { return false }
    guard origin.hasPrefix(audience + ":") else { return audience == origin }
    return UInt16(origin.dropFirst(audience.count + 1)) != nil
  }

  /// Returns an origin in lower case, without the usual port of its scheme; nil for a text of another form.
  static func read(_ text: String) -> String? {
    guard text.utf8.count <= maximumSize else { return nil }
    var text = text.lowercased()
    if text.hasSuffix("/") { text.removeLast() }
    for (scheme, port) in [("https://", ":443"), ("http://", ":80")] where text.hasPrefix(scheme) {
      let place = text.dropFirst(scheme.count)
      guard !place.isEmpty, place.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && !"/?#@\\\"".utf8.contains($0) }) else {
        return nil
      }
      return place.hasSuffix(port) && place.count > port.count ? String(text.dropLast(port.count)) : text
    }
    return nil
  }
}
