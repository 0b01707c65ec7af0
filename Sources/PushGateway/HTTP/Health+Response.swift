import HTTP2Transport
import PushCore

extension Health {
  /// The response: status 200 if healthy, 503 otherwise.
  var response: Response { Response(self, status: problems.isEmpty ? 200 : 503) }
}
