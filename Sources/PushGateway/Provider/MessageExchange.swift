import HTTP2Transport
import NIOCore

/// A request with a message, with the means to answer it on the event loop that serves it.
struct MessageExchange {
  var request: ControlRequest
  var door: MessageDoor
  /// True if the body has more bytes than the form allows; the others were dropped.
  var isTooLarge = false
  let eventLoop: any EventLoop
  /// Called when the sender has presented a valid credential.
  var authenticated: () -> Void = {}
  /// Called once with the response.
  let respond: (Response) -> Void
}
