import HTTP2Transport
import PushCore

extension Health {
  init(promise: DurabilityPromise, problems: [HealthProblem]) {
    self.init(
      status: problems.isEmpty ? "ready" : "degraded", durability: promise.name, promise: promise.words,
      problems: problems)
  }

  /// 200 or 503.
  var response: Response { Response(self, status: problems.isEmpty ? 200 : 503) }
}
