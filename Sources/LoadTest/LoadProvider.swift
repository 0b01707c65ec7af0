import GatewayProtocol
package import HTTP2Transport
import PushCore

/// One provider connection of a load test. It keeps requests in flight and counts their answers, without a string or a
/// parsed object for any of them.
///
/// Use it only on the event loop of its ``LoadWorker``.
package final class LoadProvider: HTTP2SessionDelegate {
  /// A request in flight.
  package struct Request {
    package var device: Int
    package var number: UInt32
    /// The intended time of sending, in nanoseconds after the start.
    package var intended: UInt64
    /// The number from which the `apns-id` is made.
    package var id: UInt64
  }

  package let index: Int
  private unowned let worker: any ProviderWorker
  private var connection: Connection?
  private var isReady = false
  /// The requests in flight; the index is the tag of the stream minus one.
  private var requests: [Request] = []
  private var free: [Int] = []
  private let windowSize: Int
  private var head = HeaderFields()
  private var idField: Int?
  private var payload: MarkedPayload
  /// True while the worker lists this provider among those with free capacity.
  package var isListed = false

  package init(index: Int, worker: any ProviderWorker) {
    self.index = index
    self.worker = worker
    windowSize = worker.plan.streams
    payload = MarkedPayload(size: worker.plan.payloadSize)
    free = Array((0..<windowSize).reversed())
    requests = [Request](repeating: Request(device: 0, number: 0, intended: 0, id: 0), count: windowSize)
  }

  /// True if a request can be sent now.
  package var hasCapacity: Bool { isReady && !free.isEmpty }

  /// The number of requests without an answer.
  package var inFlight: Int { windowSize - free.count }

  /// Builds the header fields that all requests share; each request then sets its own device token and `apns-id`.
  package func setHead(authorization: String?) {
    let target = worker.target
    head.removeAll()
    head.append(.method, "POST")
    head.append(.scheme, "https")
    head.append(.authority, target.addresses[target.addressIndex(of: index)].description.utf8)
    let path = target.path ?? Paths.devicePush.description + String(repeating: "0", count: 64)
    head.append(.path, path.utf8, isUnindexed: true)
    if let authorization { head.append(.authorization, authorization.utf8) }
    head.append(.apnsTopic, target.topic.utf8)
    head.append(.apnsPushType, "alert")
    if let expiration = worker.plan.expiration {
      head.append(.apnsExpiration, String(expiration == 0 ? 0 : worker.wallStart + expiration).utf8)
    }
    idField = nil
    if worker.plan.hasIDs {
      idField = head.fields.count
      head.append(.apnsID, (worker.idPrefix + "-8000-000000000000").utf8, isUnindexed: true)
    }
  }

  package func attach(_ connection: Connection) {
    self.connection = connection
    connection.session.delegate = self
    connection.closed = { [weak self] error in self?.lost(error) }
  }

  /// Closes the connection after the pending output is sent.
  package func close() { connection?.closeAfterFlush() }

  /// Sends one push; call it only while ``hasCapacity`` is true.
  package func send(_ request: Request) {
    guard let connection, let slot = free.popLast() else { return }
    requests[slot] = request
    let device = request.device
    if worker.target.path == nil {
      unsafe worker.withToken(of: device) { token in
        unsafe head.overwriteValue(LoadProvider.pathField) { unsafe $0.suffix(token.count).copyBytes(from: token) }
      }
    }
    if let idField {
      let digits = (0..<12).map { hexDigit(UInt8(truncatingIfNeeded: request.id >> UInt64(44 - 4 * $0)) & 15) }
      unsafe head.overwriteValue(idField) { unsafe $0.suffix(digits.count).copyBytes(from: digits) }
    }
    payload.set(
      LoadTag(
        run: worker.run, provider: UInt16(index), device: UInt32(device), number: request.number,
        intended: request.intended))
    do {
      let stream = try connection.session.request(head, hasBody: true)
      stream.tag = slot + 1
      connection.session.write(payload.bytes, ending: true, on: stream)
      connection.setNeedsFlush()
    } catch {
      // The stream identifiers are used up, or GOAWAY was received: a new connection sends the request.
      free.append(slot)
      worker.giveUp(request, of: self, isRetriable: true)
      connection.closeAfterFlush()
      isReady = false
    }
  }

  /// The index of `:path` in the head.
  private static let pathField = 3

  private func lost(_ error: (any Error)?) {
    isReady = false
    connection = nil
    worker.providerLost(self, error)
  }

  // MARK: HTTP2SessionDelegate

  package func session(_ session: HTTP2Session, receivedHeadOn stream: HTTP2Stream) {
    stream.message.maximumBodySize = Limits.maximumErrorBodySize
  }

  package func session(_ session: HTTP2Session, receivedEndOn stream: HTTP2Stream) {
    guard stream.tag > 0 else { return }
    let slot = stream.tag - 1
    stream.tag = 0
    free.append(slot)
    if stream.message.has(.status, "200") {
      worker.accepted(requests[slot], by: self)
    } else {
      worker.refused(requests[slot], by: self, stream.message)
    }
  }

  package func session(_ session: HTTP2Session, closed stream: HTTP2Stream, errorCode: UInt32) {
    guard stream.tag > 0 else { return }
    let slot = stream.tag - 1
    stream.tag = 0
    free.append(slot)
    worker.giveUp(requests[slot], of: self, isRetriable: idField != nil)
  }

  package func sessionReceivedSettings(_ session: HTTP2Session) {
    guard !isReady else { return }
    isReady = true
    worker.providerReady(self)
  }

  package func session(_ session: HTTP2Session, goingAwayAfter lastStreamID: Int32, debugData: [UInt8]) {
    isReady = false
  }
}

/// The worker that a provider sends for: a ``LoadWorker``.
package protocol ProviderWorker: AnyObject {
  var plan: LoadPlan { get }
  var target: LoadTarget { get }
  var run: UInt16 { get }
  var wallStart: Int { get }
  var idPrefix: String { get }
  /// Calls `body` with the device token of a device, in hex; the bytes are valid only during the call.
  func withToken(of device: Int, _ body: (UnsafeRawBufferPointer) -> Void)
  /// Reports that the provider has received its stream limit and can send.
  func providerReady(_ provider: LoadProvider)
  func providerLost(_ provider: LoadProvider, _ error: (any Error)?)
  func accepted(_ request: LoadProvider.Request, by provider: LoadProvider)
  func refused(_ request: LoadProvider.Request, by provider: LoadProvider, _ message: Message)
  /// Reports that there is no answer: the request is sent again if `isRetriable`, else it counts as lost.
  func giveUp(_ request: LoadProvider.Request, of provider: LoadProvider, isRetriable: Bool)
}
