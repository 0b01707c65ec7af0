import Foundation
package import GatewayProtocol
package import PushCore
package import PushPolicy
import Queues
import Synchronization

/// A device's connection to its gateway: reconnects for ever, from where it was.
///
/// A push is the device's when it is on disk here; its receiver sees to that, then ``store(_:)`` and ``acknowledge(_:)``.
package final class DeviceSession: Sendable {
  private let connect: @Sendable () async throws -> any DeviceLink
  /// Waits between attempts.
  private let sleep: @Sendable (Duration) async -> Void
  /// The Focus that was on from the beginning, if somebody said so.
  package let focus: String?
  private let cursor: CursorFile
  /// Where the receiver's own record of pushes ends, which may be ahead of the cursor after a crash.
  private let received: Mutex<UInt64>
  /// The silent switch and the Focus that the gateway is told; without a Focus nothing is said of it.
  private let circumstances: Mutex<(isSilent: Bool, focus: String?)>
  private let link = Mutex<(any DeviceLink)?>(nil)
  private let broadcasts = Mutex(BroadcastInbox())
  private let pace = Mutex(AcknowledgementPace())
  /// Whether the gateway that is connected says when it has an answer.
  private let confirmsAnswers = Mutex(false)
  private let failure = Mutex<ClientError?>(nil)
  private let finishing = Mutex(false)
  /// The pause between two attempts, while there is one.
  private let pause = Mutex<Task<Void, Never>?>(nil)

  /// Why this has given up: the gateway does not know the device, or is not the one to trust, and trying again would
  /// help nobody.
  package var permanentFailure: ClientError? { failure.withLock { $0 } }
  package var isRefused: Bool { permanentFailure != nil }

  /// The number up to which pushes are stored here.
  package var cursorValue: UInt64 { cursor.value }

  /// - Parameters:
  ///   - folder: where the cursor is kept.
  ///   - pingInterval: how often the gateway is asked for a sign of life; nil: every half minute.
  ///   - focus: the Focus that is on, which the gateway is told.
  ///   - endpoint: the gateway's address, asked for before each attempt: a gateway that restarts may have another port.
  /// - Throws: ``DeviceError`` when the cursor can't be written.
  package convenience init(
    _ credentials: Credentials, folder: StateFolder, pingInterval: Duration? = nil, focus: String? = nil,
    endpoint: @escaping @Sendable () throws -> Client.Endpoint
  ) throws {
    try self.init(
      name: credentials.name, folder: folder, focus: focus, sleep: { try? await Task.sleep(for: $0) },
      connect: {
        // They may have been replaced since the attempt before.
        let credentials = (try? Credentials.read(credentials.name, in: folder)) ?? credentials
        return try await ClientLink.connect(to: try endpoint(), credentials, pingInterval: pingInterval)
      })
  }

  /// - Parameters:
  ///   - name: the device's, under which its cursor is kept.
  ///   - sleep: waits between attempts.
  ///   - connect: makes an attempt.
  /// - Throws: ``DeviceError`` when the cursor can't be written.
  init(
    name: String, folder: StateFolder, focus: String? = nil, sleep: @escaping @Sendable (Duration) async -> Void,
    connect: @escaping @Sendable () async throws -> any DeviceLink
  ) throws {
    self.focus = focus
    circumstances = Mutex((false, focus))
    self.sleep = sleep
    self.connect = connect
    cursor = try CursorFile(path: folder.devicesPath + "/" + name + ".cursor")
    received = Mutex(cursor.value)
  }

  /// Says that the receiver has everything up to `seq`, also when the cursor is behind.
  package func resume(after seq: UInt64) { received.withLock { $0 = max($0, seq) } }

  /// What happens, until this side has finished.
  package func events() -> DeviceEvents {
    let queue = DeviceEvents()
    Task { await receive(into: queue) }
    return queue
  }

  /// How often a device whose secret was revoked tries again: whoever has replaced it needs a moment to write it down.
  static let revokedAttempts = 4

  /// Connects again and again, until this side has finished or the gateway does not know the device.
  private func receive(into queue: DeviceEvents) async {
    var backoff = Backoff(first: .milliseconds(500), last: .seconds(60))
    // Attempts that are left when the gateway does not know the device.
    var attempts = 0
    var wasConnected = false
    while !finishing.withLock({ $0 }) {
      var reason = "the gateway ended the stream"
      do {
        let end = try await receive(queue) {
          backoff.reset()
          attempts = 0
          wasConnected = true
        }
        if end == "revoked" {
          reason = "the gateway has revoked this device's secret"
          attempts = DeviceSession.revokedAttempts
        }
      } catch let error as ClientError {
        if case .refused(let status) = error.kind, status == 401 {
          attempts -= 1
          reason = "the gateway does not know this device: it was removed or has another secret; enroll it again"
          if attempts <= 0 { failure.withLock { $0 = ClientError(error.kind, reason) } }
        } else {
          reason = error.description
          // One that was trusted before may be in the middle of a change.
          if !wasConnected, error.isPermanent { failure.withLock { $0 = error } }
        }
      } catch {
        reason = "\(error)"
      }
      link.withLock { $0 = nil }
      if finishing.withLock({ $0 }) { break }
      let pause = backoff.next()
      await queue.send(.disconnected(reason: reason, retryIn: pause))
      // Trying again would help nobody.
      if isRefused { break }
      await wait(pause)
      await queue.send(.connecting)
    }
    queue.finish()
  }

  /// Waits until the next attempt is due, or ``retry()``.
  private func wait(_ time: Duration) async {
    let task = Task { await sleep(time) }
    pause.withLock { $0 = task }
    await task.value
    pause.withLock { $0 = nil }
  }

  /// Connects now, if the next attempt is waited for.
  package func retry() { pause.withLock { $0 }?.cancel() }

  /// - Returns: why the gateway has ended the stream, if it said so.
  private func receive(_ queue: DeviceEvents, connected: () -> Void) async throws -> String? {
    var end: String?
    let link = try await connect()
    defer { link.close() }
    self.link.withLock { $0 = link }
    // What is being stored just now is sent once more, and passed over below.
    link.send(hello.text)
    let parser = JSONParser(maximumDepth: JSONParser.maximumLineDepth)
    for try await lines in link.lines {
      defer { link.taken(lines.count) }
      for event in DeviceEvent.events(in: lines, after: received.withLock { $0 }, parser: parser) {
        switch event {
        case .connected(_, let version):
          confirmsAnswers.withLock { $0 = version >= DeviceProtocol.confirmsAnswers }
          connected()
        case .ended(let reason):
          end = reason
          continue
        // It is told apart from those that were stored here, which are acknowledged.
        case .unreadable(let seq) where seq > 0:
          resume(after: seq)
          link.send(DeviceLine.undeliverable(seq: seq).text)
        // The person sees it at most once.
        case .pushes(let batch):
          resume(after: batch.lastSeq)
          let news = broadcasts.withLock { $0.take(batch, parser: parser) }
          if !news.batch.lines.isEmpty { await queue.send(.pushes(news.batch)) }
          // The next broadcast makes this one old: it is the device's when it is here.
          for acknowledgement in news.acknowledgements { link.send(acknowledgement.text) }
          continue
        default: break
        }
        await queue.send(event)
      }
    }
    return end
  }

  private var hello: DeviceLine {
    let (isSilent, focus) = circumstances.withLock { $0 }
    return .hello(version: DeviceProtocol.version, cursor: cursor.value, isSilent: isSilent, focus: focus)
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
    case .acknowledge: sendAcknowledgement()
    case .wait(let time):
      Task {
        try? await Task.sleep(until: time, clock: .continuous)
        sendAcknowledgement()
      }
    case .nothing: break
    }
  }

  private func sendAcknowledgement() {
    if let seq = pace.withLock({ $0.acknowledge(at: .now) }) { send(.acknowledge(seq: seq)) }
  }

  // MARK: From the person

  /// Tells the gateway what was presented.
  package func presented(_ id: String, _ parts: [Part]) {
    if let id = APNSID(id) { send(.presented(id: id, parts: parts)) }
  }

  /// Tells the gateway what the person answered, who repeats it until the gateway has said ``DeviceEvent/answered``.
  ///
  /// - Returns: false when nothing more will be heard of it: the gateway is of an earlier version, or the id is none.
  package func answer(_ id: String, _ action: String) -> Bool {
    guard let id = APNSID(id) else { return false }
    send(.answer(id: id, action: action))
    return confirmsAnswers.withLock { $0 }
  }

  /// Tells the gateway, now and at every reconnect, whether the silent switch is on and which Focus; empty for none.
  package func set(silent isSilent: Bool, focus: String) {
    circumstances.withLock { $0 = (isSilent, focus) }
    send(.state(isSilent: isSilent, focus: focus.isEmpty ? .off : .on(focus)))
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
    guard let link = link.withLock({ $0 }) else { throw DeviceError(.unreachable, "not connected: \(words)") }
    let answer = try await link.post(path, Array(try JSONEncoder().encode(body)))
    guard answer.status < 300 else {
      let problem = try? decodeJSON(ProblemRecord.self, from: answer.body)
      throw DeviceError(.refused, problem?.detail ?? "the gateway refused with \(answer.status)")
    }
  }

  /// Ends this side in good order: what was sent before this arrives.
  package func finish() {
    finishing.withLock { $0 = true }
    retry()
    sendAcknowledgement()
    link.withLock { $0 }?.finish()
  }

  /// Waits until the gateway has ended its side too.
  package func waitUntilFinished(atMost timeout: Duration) async {
    let end = ContinuousClock.now + timeout
    while link.withLock({ $0 != nil }), ContinuousClock.now < end {
      try? await Task.sleep(for: .milliseconds(5))
    }
  }

  private func send(_ line: DeviceLine) { link.withLock { $0 }?.send(line.text) }
}
