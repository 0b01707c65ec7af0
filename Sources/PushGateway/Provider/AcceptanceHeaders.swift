import HTTP2Transport
import PushCore
import PushStorage

/// The header fields of a 200, in which only the ids are overwritten for each push.
struct AcceptanceHeaders {
  /// With `apns-unique-id`, as in the development environment.
  private var unique = HeaderFields(status: 200)
  private var plain = HeaderFields(status: 200)

  init() {
    let id = [UInt8](repeating: UInt8(ascii: "0"), count: APNSID.textSize)
    plain.append(.apnsID, id, isUnindexed: true)
    unique.append(.apnsID, id, isUnindexed: true)
    unique.append(.apnsUniqueID, id, isUnindexed: true)
  }

  /// Responds with 200 and the ids of a push.
  ///
  /// An accepted id is a UUID. A sender's id keeps the case of its digits: the response returns it unchanged.
  @inline(__always) mutating func respond(to exchange: Exchange, with push: StoredPush) {
    if exchange.connection.environment == .development {
      unsafe unique.overwriteValue(1) { unsafe push.id.write(to: $0) }
      unsafe unique.overwriteValue(2) { unsafe push.uniqueID.write(to: $0) }
      exchange.respond(unique, body: EmptyCollection())
    } else {
      unsafe plain.overwriteValue(1) { unsafe push.id.write(to: $0) }
      exchange.respond(plain, body: EmptyCollection())
    }
  }

  /// Returns true for short printable ASCII, which is returned unchanged: one client library finds the response by
  /// the id that it sent, in any form.
  static func isEchoable(_ id: [UInt8]) -> Bool {
    (1...Limits.maximumEchoedIDSize).contains(id.count) && id.allSatisfy { (0x21...0x7E).contains($0) }
  }
}
