import GatewayProtocol
import HTTP2Transport
import NIOCore
import PushCore
import PushStorage
import Synchronization

/// Passes messages that arrive over HTTP/1.1, outside of the event loops, to one of the loops.
///
/// Most programs use the APIs of ntfy and Gotify over HTTP/1.1, and most services send webhooks over HTTP/1.1.
final class MessageRelay: Sendable {
  private let api = Mutex<NIOLoopBound<ProviderAPI>?>(nil)
  /// The environment of the app's registrations.
  private let environment: Environment
  /// The senders, of which only known ones may send attachments; nil to refuse attachments.
  private let senders: MessageSenders?
  private let clock: WallClock

  init(environment: Environment, senders: MessageSenders? = nil, clock: WallClock = .system) {
    (self.environment, self.senders, self.clock) = (environment, senders, clock)
  }

  /// Returns the maximum size of a request's body in bytes, by its head.
  func maximumBodySize(of request: ControlRequest, _ door: MessageDoor) -> Int {
    senders.map { door.maximumBodySize(of: request, $0, now: clock.seconds) } ?? door.maximumBodySize
  }

  /// Sets the API of an event loop, to which messages are passed. Further calls have no effect.
  func attach(_ api: NIOLoopBound<ProviderAPI>) { self.api.withLock { $0 = $0 ?? api } }

  /// Returns the path of a message over HTTP/1.1; nil for any other request.
  ///
  /// ntfy takes messages in JSON at the root, and some clients of ntfy have no setting for another path. Over HTTP/2
  /// the root belongs to the API of APNs.
  static func path(_ path: Substring, method: String) -> String? {
    if path == "/", method == "POST" || method == "PUT" { return "\(Paths.ntfy)" }
    return MessageDoor(path: path) == nil ? nil : String(path)
  }

  /// Returns the response to a request that has a form of messages: 503 before ``attach(_:)``.
  func answer(_ request: ControlRequest, _ door: MessageDoor) async -> Response {
    var request = request
    request.environment = environment
    guard let api = self.api.withLock({ $0 }) else {
      return door.response(to: MessageRefusal(Rejection(.serviceUnavailable)))
    }
    let size = maximumBodySize(of: request, door)
    return await withCheckedContinuation { [request] continuation in
      api.eventLoop.execute {
        api.value.serve(
          MessageExchange(
            request: request, door: door, isTooLarge: request.body.count > size,
            eventLoop: api.eventLoop, respond: { continuation.resume(returning: $0) }))
      }
    }
  }
}
