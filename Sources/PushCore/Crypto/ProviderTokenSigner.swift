/// Signs provider tokens with a `.p8` key (reference §4.1), as every APNs sender does.
package struct ProviderTokenSigner: Sendable {
  private let key: ES256Key
  private let keyID: String
  private let teamID: String

  /// Makes a signer with a key in memory.
  package init(key: ES256Key, keyID: String, teamID: String) {
    (self.key, self.keyID, self.teamID) = (key, keyID, teamID)
  }

  /// Returns a token issued at `now`, in seconds since 1970.
  package func token(now: Int) throws -> String {
    let header = Base64URL.encode(Array(#"{"alg":"ES256","kid":"\#(keyID)"}"#.utf8))
    let claims = Base64URL.encode(Array(#"{"iss":"\#(teamID)","iat":\#(now)}"#.utf8))
    let signature = try key.signature(of: Array("\(header).\(claims)".utf8))
    return "\(header).\(claims).\(Base64URL.encode(signature))"
  }
}
