import Foundation
import PushPolicy

@testable import GatewayProtocol
@testable import PushCore
@testable import PushGateway
@testable import PushStorage

extension FuzzTarget {
  /// A provider token. The first byte gives the format of the rest: the token, or its header and claims, separated by
  /// NUL, which this target signs.
  static let token = FuzzTarget("token", maximumSize: 400) {
    let key = try ES256Key.generate()
    let folder = try FuzzFolder()
    let store = try SQLiteStore(path: folder.file("token.sqlite"), durability: .normal)
    let registrations = try SQLiteRegistrations(store: store)
    try SerialTasks.finish {
      try await registrations.addTeam("TEAM000001")
      try await registrations.addKey(
        ProviderKey(id: "ABC123DEFG", team: "TEAM000001", publicKey: key, environment: nil, topics: nil))
    }
    let parser = JSONParser()
    return { bytes in
      guard let first = bytes.first else { return }
      let rest = bytes.dropFirst()
      if first & 1 == 0 {
        check(rest, isSigned: false, registrations, parser)
      } else {
        let parts = rest.split(separator: 0, maxSplits: 1, omittingEmptySubsequences: false)
        let head = parts.map { Base64URL.encode(Array($0)) }.joined(separator: ".")
        guard parts.count == 2, let signature = try? key.signature(of: Array(head.utf8)) else { return }
        check(Array((head + "." + Base64URL.encode(signature)).utf8)[...], isSigned: true, registrations, parser)
      }
      withExtendedLifetime(folder) {}
    }
  }

  /// A client's certificate or a key. The first byte gives the kind and the format of the rest: PEM, or DER to be
  /// encoded as PEM.
  static let certificate = FuzzTarget("certificate", maximumSize: 1000) {
    { bytes in
      guard let first = bytes.first else { return }
      var text = Array(bytes.dropFirst())
      let kind = ["CERTIFICATE", "PRIVATE KEY", "PUBLIC KEY", "EC PRIVATE KEY"][Int(first >> 1) & 3]
      if first & 1 == 1 {
        let body = Data(text).base64EncodedString(options: .lineLength64Characters)
        text = Array("-----BEGIN \(kind)-----\n\(body)\n-----END \(kind)-----\n".utf8)
      }
      if kind != "CERTIFICATE" {
        if let key = try? ES256Key(pem: text) {
          precondition((try? ES256Key(publicDER: key.publicDER)) != nil, "a key's public half is a key")
        }
      } else if let identity = try? PeerIdentity(pem: text) {
        precondition(identity.fingerprint.count == 32 && !identity.environments.isEmpty, "an identity is whole")
        precondition(identity.fault != nil || !identity.topics.isEmpty, "who may push has a topic")
      }
      _ = PeerIdentity.topics(der: text)
    }
  }
}

/// Checks that a token without a signature of the key is refused, and that the cache returns the same token for an
/// accepted one.
private func check(
  _ token: ArraySlice<UInt8>, isSigned: Bool, _ registrations: SQLiteRegistrations, _ parser: JSONParser
) {
  let bytes = Array(token)
  let cache = ProviderTokenCache(registrations: registrations)
  do throws(Rejection) {
    let token = try cache.token(bytes, parser: parser)
    precondition(isSigned, "nobody has signed this")
    precondition(token.key.id == "ABC123DEFG" && token.issued >= 0)
    let again = try cache.token(bytes, parser: parser)
    precondition(again === token, "a token is verified once")
    for now in [Int64(0), 1_800_000_000, Limits.maximumTime] { try? token.checkAge(now: now) }
  } catch {
    precondition(error.reason == .invalidProviderToken, "a token that is none has one reason")
  }
}
