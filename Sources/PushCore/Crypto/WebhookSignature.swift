import Foundation

/// The secret and the signature of a webhook, in the scheme of Standard Webhooks
/// (https://github.com/standard-webhooks/standard-webhooks).
package enum WebhookSignature {
  /// The first characters of every secret.
  package static let prefix = "whsec_"
  /// The number of bytes of a secret.
  private static let secretSize = 32

  /// Returns a new secret: the prefix, and 32 random bytes in base64.
  package static func makeSecret() -> String { prefix + Data(randomBytes(count: secretSize)).base64EncodedString() }

  /// Returns the value of `webhook-signature`: one signature for each secret, separated by spaces.
  ///
  /// - Parameters:
  ///   - id: the value of `webhook-id`.
  ///   - timestamp: the value of `webhook-timestamp`, in seconds since 1970.
  package static func field(id: String, timestamp: Int64, body: [UInt8], secrets: [String]) -> String {
    let content = Array("\(id).\(timestamp).".utf8) + body
    return secrets.map { secret in
      let key = Base64URL.decode(secret.dropFirst(prefix.count).utf8) ?? []
      return "v1," + Data(Digest.hmacSHA256(content, key: key)).base64EncodedString()
    }
    .joined(separator: " ")
  }
}
