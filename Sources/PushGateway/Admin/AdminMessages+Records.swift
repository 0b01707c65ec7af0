import GatewayProtocol
import PushCore
import PushStorage

extension KeyRecord {
  /// Creates the list entry of a key.
  init(_ key: ProviderKey) {
    self.init(
      id: key.id, team: key.team, environment: key.environment?.rawValue ?? "both", topics: key.topics?.sorted(),
      related: key.related)
  }
}

extension DeviceRecord {
  /// Returns seconds since 1970 in the format of RFC 3339, in UTC, clamped to the range of that format.
  static func timestamp(seconds: Int64) -> String {
    var bytes: [UInt8] = []
    appendTimestamp(
      min(max(seconds, ColumnBounds.seconds.lowerBound), ColumnBounds.seconds.upperBound) * 1000, to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }
}

extension InvitationRecord {
  /// Creates the list entry of an invitation.
  ///
  /// - Parameter topic: the app of the channel that the link is for.
  init(_ invitation: Invitation, topic: String? = nil) {
    let terms = invitation.terms
    self.init(
      id: invitation.id, person: terms.person, role: terms.role.rawValue,
      expires: DeviceRecord.timestamp(seconds: terms.expires), uses: terms.uses, channel: terms.channel?.description,
      topic: topic)
  }

  /// Creates the list entry of an invitation, with the app of its channel.
  init(_ invitation: Invitation, _ channels: Channels, _ registrations: any Registrations) {
    let channel = invitation.terms.channel.flatMap { channels.channel($0) }
    self.init(invitation, topic: channel.flatMap { registrations.app($0.app)?.topic })
  }
}

extension CertificateRecord {
  /// Creates the list entry of a certificate.
  init(_ certificate: ProviderCertificate) {
    func text(_ milliseconds: Int64?) -> String? {
      milliseconds.map { milliseconds in
        var bytes: [UInt8] = []
        appendTimestamp(milliseconds, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
      }
    }
    self.init(
      id: certificate.id, topic: certificate.topic, topics: certificate.topics.sorted(),
      environments: certificate.environments.map(\.rawValue).sorted(),
      expires: text(certificate.expires.map { $0 * 1000 }), revoked: text(certificate.revoked))
  }
}
