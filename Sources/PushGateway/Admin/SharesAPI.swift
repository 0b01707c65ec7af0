import GatewayProtocol
import HTTP2Transport
import PushCore
import PushStorage

/// The routes `/admin/v1/shares…` and `/admin/v1/channels/{id}/shares`: links with which several users read a
/// broadcast channel.
struct SharesAPI: Sendable {
  let registrations: any Registrations
  let channels: ChannelsAPI
  let clock: WallClock
  /// Returns the CA fingerprint for codes; nil without a certificate.
  let authority: @Sendable () -> String?

  var routes: [Router.Route] {
    [
      .init("POST", .channelShares, .admin, share),
      .init("GET", .shares, .reader) { request in
        let rows = try await shares().map { InvitationRecord($0, channels.channels, registrations) }
        return Response(rows: try ListsAPI.page(request, rows, \.id))
      },
      .empty("DELETE", .share, .admin) { request in
        let id = request.parameters[0].lowercased()
        guard try await shares().contains(where: { $0.id == id }) else {
          throw Problem.notFound("there is no link \(request.parameters[0]): `pushcli channels shares` shows them")
        }
        try await registrations.withdraw(invitation: id)
      },
    ]
  }

  private func shares() async throws -> [Invitation] {
    try await registrations.invitations(now: clock.seconds).filter { $0.terms.channel != nil }
  }

  private func share(_ request: ControlRequest) async throws -> Response {
    let body: ShareRequest = try request.decoded()
    try Problem.check(
      body.validSeconds, 1...Limits.maximumInvitationValidity, "validity of a link", of: "seconds (a year)")
    try Problem.check(body.uses, 1...Limits.maximumInvitationUses, "number of uses of a link")
    guard let authority = authority() else { throw Problem.noFingerprint(for: "code") }
    let channel = try channels.channel(request)
    let (secret, invitation) = try await registrations.invite(
      InvitationTerms(
        expires: clock.seconds + Int64(body.validSeconds), uses: body.uses, channel: channel.id))
    let code = InvitationCode(authority: authority, secret: secret).description
    return Response(
      CreatedInvitation(code: code, InvitationRecord(invitation, channels.channels, registrations)), status: 201)
  }
}
