import HTTP2Transport
import NIOCore
import PushCore

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

extension ControlRequest {
  /// Creates the value of a request over HTTP/2, with the fields that a form of messages can read.
  init(messageOf exchange: Exchange) {
    let connection = exchange.connection
    self.init(exchange.request, from: connection.peer)
    (environment, source) = (connection.environment, connection.source)
    fields = exchange.request.messageFields
  }
}

extension Message {
  /// The fields that a form of messages can read, by their names in lower case; the first of each name.
  fileprivate var messageFields: [String: String] {
    var fields: [String: String] = [:]
    for (name, value) in otherFields where fields[name] == nil { fields[name] = value }
    for name in [HeaderName.authorization, .contentType, .apnsID] {
      if let value = text(name) { fields["\(name.wireName)"] = value }
    }
    return fields
  }
}
