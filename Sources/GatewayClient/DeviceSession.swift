import Foundation
package import GatewayProtocol
package import PushCore
package import PushPolicy
package import Queues
import Synchronization

/// A device's connection to its gateway: reconnects for ever, from where it was.
///
/// A push is the device's when it is on disk here; its receiver sees to that, then ``store(_:)`` and ``acknowledge(_:)``.
package final class DeviceSession: Sendable {
  private let endpoint: @Sendable () throws -> Client.Endpoint
  private let credentials: Credentials
  private let pingInterval: Duration?
  /// The Focus that was on from the beginning, if somebody said so.
  package let focus: String?
  private let cursor: CursorFile
  /// Where the receiver's own record of pushes ends, which may be ahead of the cursor after a crash.
  private let received: Mutex<UInt64>
  /// The silent switch and the Focus that the gateway is told; without a Focus nothing is said of it.
  private let circumstances: Mutex<(isSilent: Bool, focus: String?)>
  private let link = Mutex<(client: Client, stream: LineStream)?>(nil)
  private let broadcasts = Mutex(BroadcastInbox())
  private let pace = Mutex(AcknowledgementPace())
  private let refused = Mutex(false)
  private let finishing = Mutex(false)

  /// Whether the gateway does not know this device, so that trying again helps nobody but a person who mends it.
  package var isRefused: Bool { refused.withLock { $0 } }

  /// The number up to which pushes are stored here.
  package var cursorValue: UInt64 { cursor.value }

  /// - Parameters:
  ///   - folder: where the cursor is kept.
  ///   - pingInterval: how often the gateway is asked for a sign of life; nil: every half minute.
  ///   - focus: the Focus that is on, which the gateway is told.
  ///   - endpoint: the gateway's address, asked for before each attempt: a gateway that restarts may have another port.
  /// - Throws: ``DeviceError`` when the cursor can't be written.
  package init(
    _ credentials: Credentials, folder: StateFolder, pingInterval: Duration? = nil, focus: String? = nil,
    endpoint: @escaping @Sendable () throws -> Client.Endpoint
  ) throws {
    self.pingInterval = pingInterval
    self.focus = focus
    circumstances = Mutex((false, focus))
    self.endpoint = endpoint
    self.credentials = credentials
    cursor = try CursorFile(path: folder.devicesPath + "/" + credentials.name + ".cursor")
    received = Mutex(cursor.value)
  }

  /// Says that the receiver has everything up to `seq`, also when the cursor is behind.
  package func resume(after seq: UInt64) { received.withLock { $0 = max($0, seq) } }

  /// What happens, until this side has finished.
  package func events() -> DeviceEvents {
    let queue = DeviceEvents()
    Task { await connect(queue) }
    return queue
  }

  private func connect(_ queue: DeviceEvents) async {
    var backoff = Backoff(first: .milliseconds(500), last: .seconds(60))
    while !finishing.withLock({ $0 }) {
      var reason = "the gateway ended the stream"
      do {
        try await receive(queue) { backoff.reset() }
      } catch let error as ClientError {
        if case .refused(let status) = error.kind, status == 401 {
          refused.withLock { $0 = true }
          reason = "the gateway does not know this device: enroll it again under another name"
        } else {
          reason = error.description
        }
      } catch {
        reason = "\(error)"
      }
      link.withLock { $0 = nil }
      if finishing.withLock({ $0 }) { break }
      let pause = backoff.next()
      await queue.send(.disconnected(reason: reason, retryIn: pause))
      try? await Task.sleep(for: pause)
    }
    queue.finish()
  }

  private func receive(_ queue: DeviceEvents, connected: () -> Void) async throws {
    let client = try await Client.connect(to: try endpoint(), pingInterval: pingInterval)
    defer { client.close() }
    let stream = try await client.stream(
      "POST", "/v1/device/stream", [(.authorization, "bearer " + credentials.secret)], isGathering: true)
    link.withLock { $0 = (client, stream) }
    // What is being stored just now is sent once more, and passed over below.
    stream.send(hello)
    let parser = JSONParser(maximumDepth: JSONParser.maximumLineDepth)
    for try await lines in stream.lines {
      defer { stream.taken(lines.count) }
      for event in DeviceEvent.events(in: lines, after: received.withLock { $0 }, parser: parser) {
        switch event {
        case .connected: connected()
        // It is told apart from those that were stored here, which are acknowledged.
        case .unreadable(let seq) where seq > 0:
          resume(after: seq)
          stream.send(#"{"type":"undeliverable","seq":\#(seq)}"#)
        // The person sees it at most once.
        case .pushes(let batch):
          resume(after: batch.lastSeq)
          let news = broadcasts.withLock { $0.take(batch, parser: parser) }
          if !news.batch.lines.isEmpty { await queue.send(.pushes(news.batch)) }
          // The next broadcast makes this one old: it is the device's when it is here.
          for acknowledgement in news.acknowledgements { stream.send(acknowledgement) }
          continue
        default: break
        }
        await queue.send(event)
      }
    }
  }

  private var hello: String { line("hello", #""cursor":\#(cursor.value),"#) }

  /// A line that ends in the silent switch and the Focus.
  private func line(_ type: String, _ members: String = "") -> String {
    let (isSilent, focus) = circumstances.withLock { $0 }
    var line = Array(#"{"type":"\#(type)",\#(members)"silent":\#(isSilent)"#.utf8)
    if let focus {
      line += #","focus":"#.utf8
      appendJSONString(focus, to: &line)
    }
    return String(decoding: line, as: UTF8.self) + "}"
  }

  // MARK: From the device

  /// Writes that everything up to `seq` is the device's: from now on the death of this process repeats nothing.
  package func store(_ seq: UInt64) throws {
    if seq > 0 { try cursor.write(seq) }
  }

  /// Returns when what was stored is on disk; the gateway is told.
  package func acknowledge(_ seq: UInt64) throws {
    guard seq > 0 else { return }
    try cursor.sync()
    sendAcknowledgement(seq)
  }

  /// Tells the gateway that everything up to `seq` is on disk, for a receiver that keeps its own record.
  package func sendAcknowledgement(_ seq: UInt64) {
    switch pace.withLock({ $0.store(seq, at: .now) }) {
    case .tell: sendAcknowledgement()
    case .wait(let time):
      Task {
        try? await Task.sleep(until: time, clock: .continuous)
        sendAcknowledgement()
      }
    case .nothing: break
    }
  }

  private func sendAcknowledgement() {
    if let seq = pace.withLock({ $0.tell(at: .now) }) { send(#"{"type":"ack","seq":\#(seq)}"#) }
  }

  // MARK: From the person

  /// Tells the gateway what was presented.
  package func presented(_ id: String, _ parts: [Part]) {
    let names = parts.map { "\"\($0.rawValue)\"" }.joined(separator: ",")
    send(#"{"type":"presented","id":"\#(id)","parts":[\#(names)]}"#)
  }

  /// Tells the gateway what the person answered.
  package func answer(_ id: String, _ action: String) {
    var line = Array(#"{"type":"answer","id":"\#(id)","action":"#.utf8)
    appendJSONString(action, to: &line)
    send(String(decoding: line, as: UTF8.self) + "}")
  }

  /// Tells the gateway, now and at every reconnect, whether the silent switch is on and which Focus; empty for none.
  package func set(silent isSilent: Bool, focus: String) {
    circumstances.withLock { $0 = (isSilent, focus) }
    send(line("state"))
  }

  /// Changes choices at the gateway, which tells every device of the person.
  ///
  /// - Throws: ``DeviceError`` in words for the person.
  package func change(_ request: PreferencesRequest) async throws {
    try await post("/v1/device/preferences", request, otherwise: "the choices can't be saved now")
  }

  /// Tells the gateway that a push was an advertisement.
  ///
  /// - Throws: ``DeviceError`` in words for the person.
  package func report(_ ad: AdReportRequest) async throws {
    try await post("/v1/device/ads/reports", ad, otherwise: "it can't be reported now")
  }

  private func post(_ path: String, _ body: some Encodable, otherwise words: String) async throws {
    guard let client = link.withLock({ $0?.client }) else {
      throw DeviceError(.unreachable, "not connected: \(words)")
    }
    let answer = try await client.request(
      "POST", path, [(.authorization, "bearer " + credentials.secret)], body: Array(try JSONEncoder().encode(body)))
    guard answer.status < 300 else {
      let problem = try? decodeJSON(ProblemRecord.self, from: answer.body)
      throw DeviceError(.refused, problem?.detail ?? "the gateway refused with \(answer.status)")
    }
  }

  /// Ends this side in good order: what was sent before this arrives.
  package func finish() {
    finishing.withLock { $0 = true }
    sendAcknowledgement()
    link.withLock { $0 }?.stream.finish()
  }

  /// Waits until the gateway has ended its side too.
  package func waitUntilFinished(atMost timeout: Duration) async {
    let end = ContinuousClock.now + timeout
    while link.withLock({ $0 != nil }), ContinuousClock.now < end {
      try? await Task.sleep(for: .milliseconds(5))
    }
  }

  private func send(_ line: String) { link.withLock { $0 }?.stream.send(line) }
}
