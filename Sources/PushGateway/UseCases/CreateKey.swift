import PushCore
import PushStorage

/// Adds a signing key to a team: a generated one or an existing one.
struct CreateKey: Sendable {
  let registrations: any Registrations

  /// Adds a key.
  ///
  /// - Parameters:
  ///   - id: 10 characters; nil: generated.
  ///   - key: at least the public half; nil: generated.
  ///   - topics: the topics it may push to; empty: every topic.
  ///   - related: the key it is rotated with.
  /// - Returns: the key, and the PEM of a generated private half, which is not stored.
  func callAsFunction(
    id: String?, team: String, key given: ES256Key?, environment: Environment?, topics: [String], related: String?
  ) async throws -> (key: ProviderKey, privatePEM: [UInt8]?) {
    let key = try given ?? ES256Key.generate()
    let record = ProviderKey(
      id: id ?? CreateKey.randomID(), team: team, publicKey: key, environment: environment,
      topics: topics.isEmpty ? nil : Set(topics), related: related)
    try await registrations.addKey(record)
    return (record, given == nil ? key.privatePEM : nil)
  }

  private static func randomID() -> String {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789".utf8)
    return String(decoding: randomBytes(count: 10).map { alphabet[Int($0) % alphabet.count] }, as: UTF8.self)
  }
}
