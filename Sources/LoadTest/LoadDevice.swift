import GatewayClient
import GatewayProtocol
import Glibc
package import HTTP2Transport
import PushCore

/// One device of a load test: an open stream whose lines are counted and acknowledged at the same pace as by any other
/// device.
///
/// Use it only on the event loop of its ``LoadWorker``.
package final class LoadDevice: HTTP2SessionDelegate, StreamConsumer {
  package enum State { case offline, connecting, live }

  package let index: Int
  package let isSlow: Bool
  package private(set) var state = State.offline
  /// The sequence number of the last received push.
  package private(set) var cursor: UInt64 = 0
  private unowned let worker: LoadWorker
  private var connection: Connection?
  private var stream: HTTP2Stream?
  private var tls: TLSConnection?
  /// The TLS session of the previous connection, for the next connection to resume.
  package private(set) var tlsSession: TLSSession?
  private var isAcknowledgementDue = false
  private var pace = AcknowledgementPace()
  /// The first bytes of a line that is not complete yet.
  private var partial: [UInt8] = []

  package init(index: Int, isSlow: Bool, worker: LoadWorker) {
    self.index = index
    self.isSlow = isSlow
    self.worker = worker
  }

  /// Requests the device's stream on a connection that is about to be opened.
  package func attach(_ connection: Connection, _ tls: TLSConnection, secret: String) throws {
    self.connection = connection
    self.tls = tls
    tlsSession = nil
    connection.session.delegate = self
    connection.closed = { [weak self] error in self?.lost(error) }
    var head = HeaderFields()
    head.append(.method, "POST")
    head.append(.scheme, "https")
    head.append(.authority, worker.target.addresses[worker.target.addressIndex(of: index)].description.utf8)
    head.append(.path, Paths.deviceStream)
    head.append(.authorization, "bearer \(secret)".utf8)
    let stream = try connection.session.request(head, hasBody: true)
    let hello = DeviceLine.hello(version: DeviceProtocol.version, cursor: cursor, isSilent: false)
    connection.session.write((hello.text + "\n").utf8, ending: false, on: stream)
    self.stream = stream
  }

  package func begin() { state = .connecting }

  /// Closes the connection without a GOAWAY or the end of the stream, as after a loss of the network.
  package func drop() {
    if worker.resumesSessions { tlsSession = tls?.session }
    connection?.close(nil)
  }

  /// Ends the stream and closes the connection in good order.
  package func leave() {
    guard let connection, let stream else { return }
    sendAcknowledgement()
    connection.session.write(EmptyCollection<UInt8>(), ending: true, on: stream)
    connection.setNeedsFlush()
    connection.closeAfterFlush()
  }

  /// Acknowledges the pushes of one event-loop iteration, now or at the time that ``AcknowledgementPace`` returns.
  package func acknowledge() {
    isAcknowledgementDue = false
    switch pace.store(cursor, at: .now) {
    case .acknowledge: sendAcknowledgement()
    case .wait(let time): worker.acknowledge(self, at: time)
    case .nothing: break
    }
  }

  /// Sends the due acknowledgement. A device that is not connected sends nothing.
  package func sendAcknowledgement() {
    guard let seq = pace.acknowledge(at: .now), let connection, let stream else { return }
    worker.acknowledgement.removeSubrange(LoadWorker.acknowledgementHead.count...)
    appendDecimal(seq, to: &worker.acknowledgement)
    worker.acknowledgement.append(UInt8(ascii: "}"))
    worker.acknowledgement.append(UInt8(ascii: "\n"))
    connection.session.write(worker.acknowledgement, ending: false, on: stream)
    connection.setNeedsFlush()
  }

  private func lost(_ error: (any Error)?) {
    connection = nil
    stream = nil
    tls = nil
    partial = []
    isAcknowledgementDue = false
    let wasLive = state == .live
    state = .offline
    worker.deviceLost(self, wasLive: wasLive, error)
  }

  // MARK: HTTP2SessionDelegate

  package func session(_ session: HTTP2Session, receivedHeadOn stream: HTTP2Stream) {
    guard stream.message.has(.status, "200") else {
      worker.fail("a device's stream was refused with \(stream.message.text(.status) ?? "no status")")
      connection?.closeAfterFlush()
      return
    }
    stream.consumer = self
  }

  package func session(_ session: HTTP2Session, receivedEndOn stream: HTTP2Stream) {}
  package func session(_ session: HTTP2Session, closed stream: HTTP2Stream, errorCode: UInt32) {
    self.stream = nil
    connection?.closeAfterFlush()
  }

  // MARK: StreamConsumer

  package func received(_ bytes: UnsafeRawBufferPointer) {
    var rest = unsafe bytes
    let now = worker.elapsed()
    while let start = rest.baseAddress, let end = unsafe memchr(start, LoadDevice.newline, rest.count) {
      let size = unsafe UnsafeRawPointer(end) - start
      if partial.isEmpty {
        unsafe line(.init(rebasing: rest[..<size]), now)
      } else {
        unsafe partial.append(contentsOf: rest[..<size])
        let whole = partial
        partial.removeAll(keepingCapacity: true)
        unsafe whole.withUnsafeBytes { unsafe line($0, now) }
      }
      unsafe rest = unsafe .init(rebasing: rest[(size + 1)...])
    }
    if unsafe !rest.isEmpty { unsafe partial.append(contentsOf: rest) }
    // A sender of such a line is not a valid gateway. The connection is closed and counted as lost.
    if partial.count > Limits.maximumGatewayLineSize {
      partial = []
      connection?.close(
        ClientError(.unreachable, "the gateway sends a line of more than \(Limits.maximumGatewayLineSize >> 20) MiB"))
    }
  }

  private static let newline = Int32(UInt8(ascii: "\n"))

  private func line(_ line: UnsafeRawBufferPointer, _ now: UInt64) {
    switch unsafe LoadLine(line) {
    case .push(let seq):
      if seq > 0 {
        // The device drops a push that it has already received.
        guard seq > cursor else {
          worker.tally.pushes.redelivered += 1
          return
        }
        cursor = seq
        if !isAcknowledgementDue {
          isAcknowledgementDue = true
          worker.acknowledgeLater(self)
        }
      }
      if let mark = unsafe LoadTag(line: line) { worker.delivered(mark, to: self, now) }
    case .welcome:
      state = .live
      if tls?.isResumed == true { worker.tally.resumed += 1 }
      worker.deviceLive(self)
    case .caughtUp:
      worker.deviceCaughtUp(self)
    case .gap(let dropped):
      // The count is limited to the number of sent pushes, because a gateway could report any number.
      let sent = worker.tally.pushes.sent
      worker.tally.dropped[index] = min((worker.tally.dropped[index] ?? 0) + min(dropped, sent), sent)
    case nil: break
    }
  }
}
