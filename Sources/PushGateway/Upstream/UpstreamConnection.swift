import HTTP2Transport
import NIOCore
import PushCore

/// The owner of a connection to the upstream, called on its event loop.
protocol UpstreamConnectionOwner: AnyObject {
  /// Reports that the connection can carry requests, or more of them than before.
  func ready(_ connection: UpstreamConnection)
  /// Reports the answer to a push; nil for an invalid answer.
  func answered(_ push: ForwardedPush, _ answer: UpstreamAnswer?, on connection: UpstreamConnection)
  /// Reports that a push gets no answer; `wasRefused` is true if the upstream has certainly not processed it.
  func lost(_ push: ForwardedPush, wasRefused: Bool, on connection: UpstreamConnection)
  /// Reports that the upstream accepts no more requests on the connection.
  func goingAway(_ connection: UpstreamConnection)
  /// Reports that the connection has ended; its pushes were reported before.
  func ended(_ connection: UpstreamConnection, _ error: (any Error)?)
}

/// One connection to the upstream, with the pushes that it carries.
///
/// Belongs to one event loop.
final class UpstreamConnection: HTTP2SessionDelegate {
  private let connection: Connection
  private weak var owner: (any UpstreamConnectionOwner)?
  let opened: NIODeadline
  /// The pushes without an answer, by their streams.
  private(set) var sent: [Int32: ForwardedPush] = [:]
  /// True if the SETTINGS of the upstream have arrived.
  private(set) var isReady = false
  /// True if the connection takes no more pushes.
  private(set) var isRetired = false
  /// True if a push was sent, and if the upstream has answered one.
  private var hasSent = false
  private var hasAnswered = false
  /// True if the upstream has answered none of the pushes on this connection.
  var isFruitless: Bool { hasSent && !hasAnswered }

  /// - Parameter connection: a client's connection with an open socket; this object becomes its delegate.
  init(_ connection: Connection, owner: any UpstreamConnectionOwner, opened: NIODeadline) {
    (self.connection, self.owner, self.opened) = (connection, owner, opened)
    connection.session.maximumIncompleteSize = Limits.maximumIncompleteSize
    connection.session.delegate = self
    connection.isWatched = true
    connection.closed = { [self] error in self.owner?.ended(self, error) }
  }

  /// True if the connection can carry one more push now.
  var hasCapacity: Bool {
    isReady && !isRetired && !connection.isClosing
      && sent.count < min(connection.session.peerStreamLimit, Limits.maximumConcurrentStreams)
  }

  /// The result of ``send(_:)``.
  enum SendResult {
    case sent
    /// The connection has no stream numbers left, and is retired.
    case usedUp
    /// The push can't be sent, probably on no other connection either.
    case failed(HTTP2Error)
  }

  /// Sends a push.
  func send(_ push: ForwardedPush) -> SendResult {
    do throws(HTTP2Error) {
      let stream = try connection.session.request(push.head, hasBody: true)
      hasSent = true
      sent[stream.id] = push
      push.stream = stream.id
      connection.session.write(push.body, ending: true, on: stream)
      connection.setNeedsFlush()
      return .sent
    } catch {
      guard error.isOutOfStreams else { return .failed(error) }
      retire()
      return .usedUp
    }
  }

  /// Ends the stream of a push whose answer is not needed any more; the upstream may have processed it.
  func cancel(_ push: ForwardedPush) {
    guard sent[push.stream] === push else { return }
    sent[push.stream] = nil
    if let stream = connection.session.stream(push.stream) {
      connection.session.reset(stream, .cancel)
      connection.setNeedsFlush()
    }
    if isRetired { retire() }
  }

  /// Accepts no further pushes; the connection closes after its last answer.
  func retire() {
    isRetired = true
    if sent.isEmpty { connection.closeAfterFlush() }
  }

  /// Closes the connection at once.
  func close(_ error: (any Error)?) { connection.close(error) }

  // MARK: HTTP2SessionDelegate

  func session(_ session: HTTP2Session, receivedHeadOn stream: HTTP2Stream) {
    // One byte more than the limit, to detect larger bodies.
    stream.message.maximumBodySize = Limits.maximumForwardedAnswer + 1
  }

  func session(_ session: HTTP2Session, receivedEndOn stream: HTTP2Stream) {
    guard let push = sent.removeValue(forKey: stream.id) else { return }
    hasAnswered = true
    owner?.answered(push, UpstreamAnswer(stream.message), on: self)
    if isRetired { retire() }
  }

  func session(_ session: HTTP2Session, closed stream: HTTP2Stream, errorCode: UInt32) {
    guard let push = sent.removeValue(forKey: stream.id) else { return }
    // The upstream has not processed a refused stream (RFC 9113 §8.7). Streams after a GOAWAY count as refused.
    owner?.lost(push, wasRefused: errorCode == HTTP2ErrorCode.refusedStream.rawValue, on: self)
    if isRetired { retire() }
  }

  func sessionReceivedSettings(_ session: HTTP2Session) {
    isReady = true
    owner?.ready(self)
  }

  func session(_ session: HTTP2Session, goingAwayAfter lastStreamID: Int32, debugData: [UInt8]) {
    isRetired = true
    owner?.goingAway(self)
    // nghttp2 reports the streams after the last one only after this call.
    if sent.isEmpty { connection.closeAfterFlush() }
  }
}
