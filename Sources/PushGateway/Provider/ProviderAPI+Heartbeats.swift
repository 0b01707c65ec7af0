import GatewayProtocol
import HTTP2Transport
import NIOCore
import PushCore
import PushStorage

/// Implements `GET`, `POST` and `HEAD /beat/NAME`, which Apple does not have: a heartbeat of a sender with a bearer
/// token, or with the token in the query. A body is ignored.
extension ProviderAPI {
  /// The response to a recorded heartbeat.
  private struct HeartbeatAnswer: Encodable {
    /// The name of the sender.
    var sender: String
    /// The time from which the next heartbeat is late, RFC 3339, UTC.
    var due: String
    /// True if the gateway had recorded this heartbeat as late.
    var late: Bool
  }

  /// Responds after the heartbeat is on disk.
  func recordHeartbeat(of sender: MessageSender, _ exchange: MessageExchange) {
    let later = NIOLoopBound(exchange, eventLoop: exchange.eventLoop)
    let schedule = parts.schedule
    Task {
      let response: Response
      do {
        let beat = try await schedule.heartbeats.beat(sender)
        schedule.wake()
        response = ProviderAPI.response(to: beat, of: sender)
      } catch {
        let isDamage = (error as? StoreError)?.isDamage ?? false
        response = MessageRefusal(Rejection(isDamage ? .internalServerError : .serviceUnavailable)).response
      }
      later.eventLoop.execute { later.value.respond(response) }
    }
  }

  private static func response(to beat: Expectations.Beat?, of sender: MessageSender) -> Response {
    guard let beat else {
      return MessageRefusal(
        404, "NotExpected",
        "no heartbeat of \(sender.name) is expected: `pushcli expect \(sender.name) --every 24h` expects one"
      ).response
    }
    var response = Response(
      HeartbeatAnswer(sender: sender.name, due: Timestamp.text(beat.after.due), late: beat.before.late != nil))
    // A cache would answer the next heartbeat.
    response.fields = [(name: "cache-control", value: "no-store")]
    return response
  }
}
