import HTTP2Transport
import Logging
import PushPolicy

/// The objects that the APIs and streams of one event loop share: the services of the process, and the loop's own
/// objects.
///
/// Not `Sendable`: it never leaves its event loop.
final class LoopServices {
  let services: Services
  /// The counters of this event loop.
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
