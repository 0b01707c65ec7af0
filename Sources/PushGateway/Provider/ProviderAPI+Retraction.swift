import GatewayProtocol
import HTTP2Transport
import NIOCore
import PushCore
import PushStorage

/// Implements `DELETE /v1/pushes/<token>/<apns-id>`, which Apple does not have: a sender retracts a push.
///
/// Senders who may push to the token under the topic may retract. The checks are those of a push, except those of the
/// payload.
extension ProviderAPI {
  /// Serves one request; the response is sent after the retraction is on disk.
  func retract(_ exchange: Exchange) {
    do throws(Rejection) {
      takeBack(try checkRetraction(exchange), for: exchange)
    } catch {
      refuse(exchange, error)
    }
  }

  private func takeBack(_ target: RetractionRequest, for exchange: Exchange) {
    // Requests whose stream was reset count as running, too: see GatewayHandler.
    let connection = exchange.connection
    guard connection.runningRequests < Limits.maximumConcurrentStreams else {
      return refuse(exchange, Rejection(.tooManyRequests))
    }
    connection.runningRequests += 1
    let later = NIOLoopBound((self, exchange.reference), eventLoop: connection.loop.eventLoop)
    let pushes = parts.pushes
    Task {
      let result: Result<Pushes.RetractionOutcome, Rejection>
      do {
        result = .success(
          target.device.isGroup
            ? try await pushes.retract(target.id, of: target.app, fromGroup: target.device, by: target.sender)
            : try await pushes.retract(target.id, of: target.app, from: target.persons, by: target.sender))
      } catch {
        let isDamage = (error as? StoreError)?.isDamage ?? false
        result = .failure(Rejection(isDamage ? .internalServerError : .serviceUnavailable))
      }
      later.eventLoop.execute {
        let (api, reference) = later.value
        reference.connection.runningRequests -= 1
        guard let exchange = reference.exchange else { return }
        switch result {
        case .success(let outcome): api.answer(exchange, target.id, outcome)
        case .failure(let rejection): api.refuse(exchange, rejection)
        }
      }
    }
  }

  private struct RetractionRequest: Sendable {
    var id: APNSID
    var app: AppID
    var device: DeviceID
    var persons: [PersonID]
    var sender: String
  }

  private func checkRetraction(_ exchange: Exchange) throws(Rejection) -> RetractionRequest {
    let request = exchange.request
    let now = parts.clock.milliseconds()
    guard request.has(.method, "DELETE") else { throw Rejection(.methodNotAllowed) }
    if request.hasDuplicateFields { throw Rejection(.duplicateHeaders) }
    let sender = try authenticate(exchange, now: now / 1000)
    let topic = try NotificationHeaders(request, topics: topics, defaultTopic: sender.defaultTopic).topic
    guard sender.permits(topic) else { throw Rejection(.topicDisallowed) }
    let segments = (request.text(.path) ?? "").dropFirst(Paths.pushes.utf8CodeUnitCount)
      .split(separator: "/", omittingEmptySubsequences: false)
    guard segments.count == 2 else { throw Rejection(.badPath) }
    let token = try deviceToken(Array(segments[0].utf8).span)
    guard let id = APNSID(String(segments[1])) else { throw Rejection(.badMessageId) }
    let (registration, app) = try registration(
      token, bundleID: topic.bundleID, environment: exchange.connection.environment, now: now)
    try allow(registration.token, app, of: sender, now: now)
    let persons = parts.registrations.device(registration.device).map { [$0.person] } ?? []
    return RetractionRequest(id: id, app: app.id, device: registration.device, persons: persons, sender: sender.words)
  }

  private func answer(_ exchange: Exchange, _ id: APNSID, _ outcome: Pushes.RetractionOutcome) {
    exchange.connection.allowAllStreams()
    var fields = HeaderFields(status: 200)
    fields.append(.apnsID, id.text)
    fields.append(.contentType, "application/json")
    exchange.respond(fields, body: #"{"result":"\#(outcome.rawValue)"}"#.utf8)
  }
}

extension ProviderSender {
  /// A description of the sender for the log.
  fileprivate var words: String {
    switch self {
    case .token(let token): "key \(token.key.id) of team \(token.key.team)"
    case .certificate(let identity): "a certificate for \(identity.topic ?? "several topics")"
    }
  }
}
