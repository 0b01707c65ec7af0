import HTTP2Transport
import NIOCore

/// A request with a message, and the callbacks for its answer. Both are called on the event loop that serves it.
struct MessageExchange {
  var request: ControlRequest
  var door: MessageDoor
  /// True if the body has more bytes than its form permits; the rest was dropped.
  var isTooLarge = false
  let eventLoop: any EventLoop
  /// Called when the sender has presented a valid credential.
  var authenticated: () -> Void = {}
  /// Called once with the response.
  let respond: (Response) -> Void
}
