import HTTP2Transport
import Logging
import PushPolicy

/// What the APIs and streams of one loop share: the services of the process, and what the loop has for itself.
///
/// Not `Sendable`: it never leaves its loop.
final class LoopServices {
  let services: Services
  /// What this loop counts.
  let meter: RequestMeter
  let log: LoopLogBuffer
  let parser: JSONParser
  let payloads: PayloadReader
  let ads = AdFilter()
  let broadcastLines = BroadcastLines()
  let logger: Logger

  init(_ services: Services, loop: LoopContext, logger: Logger) {
    self.logger = logger
    self.services = services
    meter = services.meter.join(loop.meter)
    log = LoopLogBuffer(loop: loop, log: services.log)
    parser = JSONParser()
    payloads = PayloadReader(parser: parser)
  }
}
