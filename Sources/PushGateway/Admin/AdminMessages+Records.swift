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

extension InvitationRecord {
  /// Creates the list entry of an invitation.
  ///
  /// - Parameter topic: the app of the channel that the link is for.
  init(_ invitation: Invitation, topic: String? = nil) {
    let terms = invitation.terms
    self.init(
      id: invitation.id, person: terms.person, role: terms.role.rawValue,
      expires: Timestamp.text(seconds: terms.expires), uses: terms.uses, channel: terms.channel?.description,
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
    self.init(
      id: certificate.id, topic: certificate.topic, topics: certificate.topics.sorted(),
      environments: certificate.environments.map(\.rawValue).sorted(),
      expires: certificate.expires.map { Timestamp.text(seconds: $0) },
      revoked: certificate.revoked.map { Timestamp.text($0) })
  }
}
