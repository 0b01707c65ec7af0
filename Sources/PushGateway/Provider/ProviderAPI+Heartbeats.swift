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
    /// True if this heartbeat was late, and a push reported that.
    var late: Bool
  }

  /// Serves one request; the response is sent after the heartbeat is on disk.
  func serveHeartbeat(_ exchange: Exchange) {
    do throws(MessageRefusal) {
      record(try heartbeatSender(of: exchange), exchange)
    } catch {
      exchange.respond(error.response)
    }
  }

  private func heartbeatSender(of exchange: Exchange) throws(MessageRefusal) -> MessageSender {
    let request = exchange.request
    guard request.has(.method, "GET") || request.has(.method, "POST") || request.has(.method, "HEAD") else {
      throw MessageRefusal(405, "MethodNotAllowed", "send the heartbeat with the method GET, POST or HEAD")
    }
    if request.hasDuplicateFields {
      throw MessageRefusal(400, "DuplicateHeaders", "a header field of this request occurs twice: send each field once")
    }
    let control = ControlRequest(request, from: exchange.connection.peer)
    let sender = try sender(
      String(control.path.dropFirst(Paths.heartbeats.utf8CodeUnitCount)),
      token: control.bearer ?? control.query["token"], of: exchange, now: parts.clock.milliseconds())
    // Requests whose stream was reset count as running, too: see GatewayHandler.
    guard exchange.connection.runningRequests < Limits.maximumConcurrentStreams else {
      throw MessageRefusal(Rejection(.tooManyRequests))
    }
    return sender
  }

  private func record(_ sender: MessageSender, _ exchange: Exchange) {
    let connection = exchange.connection
    connection.runningRequests += 1
    let later = NIOLoopBound(exchange.reference, eventLoop: connection.loop.eventLoop)
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
      later.eventLoop.execute {
        let reference = later.value
        reference.connection.runningRequests -= 1
        reference.exchange?.respond(response)
      }
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
