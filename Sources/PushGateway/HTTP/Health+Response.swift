import HTTP2Transport
import PushCore

extension Health {
  /// 200 or 503.
  var response: Response { Response(self, status: problems.isEmpty ? 200 : 503) }
}
