import HTTP2Transport
import Logging
import PushPolicy

/// The objects that the APIs and streams of one event loop share: the parts of the gateway, and the loop's own objects.
///
/// Not `Sendable`: it never leaves its event loop.
final class LoopParts {
  let parts: GatewayParts
  /// The counters of this event loop.
  let meter: RequestMeter
  let log: LoopLogBuffer
  let parser: JSONParser
  let payloads: PayloadReader
  let ads = AdFilter()
  let marketing: MarketingApps
  let broadcastLines = BroadcastLines()
  /// Forwards pushes for unknown device tokens; nil if there is no upstream.
  let forwarder: Forwarder?
  let logger: Logger

  init(_ parts: GatewayParts, loop: LoopContext, logger: Logger) {
    self.logger = logger
    self.parts = parts
    meter = parts.meter.join(loop.meter)
    log = LoopLogBuffer(loop: loop, log: parts.log)
    parser = JSONParser()
    marketing = MarketingApps(registrations: parts.registrations)
    payloads = PayloadReader(parser: parser)
    forwarder = parts.upstream?.join(loop.eventLoop)
  }
}
