import PushCore
import PushStorage

/// Adds a signing key to a team: a new one, or one that there is already.
struct CreateKey: Sendable {
  let registrations: any Registrations

  /// - Parameters:
  ///   - id: 10 characters; nil: new ones.
  ///   - key: its public half at least; nil: a new one is made.
  ///   - topics: what it may push to; empty: every topic.
  ///   - related: the key it is rotated with.
  /// - Returns: the key, and the PEM of a private half that was made, which is not kept.
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
