import Foundation
import Glibc
import PushGateway
import PushPolicy
import Synchronization

/// A push as a device receives it, with the line it came in.
struct ReceivedPush: Sendable {
  /// 0 for a push that is never stored.
  var seq: UInt64
  var push: PhonePush
  /// The gateway's own JSON, for `--json`.
  var line: [UInt8]
}

/// What happens on a device's stream.
enum DeviceEvent: Sendable {
  case connected(gateway: String)
  /// The connection was lost, or could not be made; the next attempt comes after the pause.
  case disconnected(reason: String, retryIn: Duration)
  case apps([PhoneApp])
  case push(ReceivedPush)
  case retract(id: String)
  case gap(dropped: Int)
}

/// A device's connection to its gateway: reconnects for ever, from where it was.
///
/// A push is the device's when it is on disk here: the cursor is saved first and acknowledged then, once for all that
/// has come meanwhile.
final class DeviceSession: Sendable {
  private let gateway: GatewayOptions
  private let credentials: Credentials
  private let cursor: CursorFile
  private let isSilent = Mutex(false)
  private let stream = Mutex<LineStream?>(nil)
  private let acknowledgements = Mutex<UInt64>(0)
  private let refused = Mutex(false)

  /// Whether the gateway does not know this device, so that trying again helps nobody but a person who mends it.
  var isRefused: Bool { refused.withLock { $0 } }

  /// Pauses between attempts: full jitter between nothing and this, doubling from the first to the last.
  private static let pauses = (first: 0.5, last: 60.0)

  init(gateway: GatewayOptions, credentials: Credentials) throws {
    self.gateway = gateway
    self.credentials = credentials
    cursor = try CursorFile(path: gateway.state.folder.devicesPath + "/" + credentials.name + ".cursor")
  }

  /// What happens, for as long as somebody listens.
  func events() -> AsyncStream<DeviceEvent> {
    AsyncStream { continuation in
      let task = Task {
        var longest = DeviceSession.pauses.first
        while !Task.isCancelled {
          var reason = "the gateway ended the stream"
          do {
            try await receive(continuation) { longest = DeviceSession.pauses.first }
          } catch let error as ClientError {
            if case .refused(let status) = error.kind, status == 401 {
              refused.withLock { $0 = true }
              reason = "the gateway does not know this device: enrol it again under another name"
            } else {
              reason = error.description
            }
          } catch let failure as CommandFailure {
            reason = failure.message
          } catch {
            reason = "\(error)"
          }
          stream.withLock { $0 = nil }
          let pause = Duration.seconds(Double.random(in: 0.05...longest))
          continuation.yield(.disconnected(reason: reason, retryIn: pause))
          longest = min(longest * 2, DeviceSession.pauses.last)
          try? await Task.sleep(for: pause)
        }
        continuation.finish()
      }
      continuation.onTermination = { _ in task.cancel() }
    }
  }

  private func receive(
    _ continuation: AsyncStream<DeviceEvent>.Continuation, connected: () -> Void
  ) async throws {
    let client = try await Client.connect(to: try gateway.endpoint())
    defer { client.close() }
    client.watch()
    let stream = try await client.stream(
      "POST", "/v1/device/stream", [(.authorization, "bearer " + credentials.secret)])
    self.stream.withLock { $0 = stream }
    var last = cursor.value
    stream.send(#"{"type":"hello","cursor":\#(last),"silent":\#(isSilent.withLock { $0 })}"#)
    let parser = JSONParser()
    for try await line in stream.lines {
      guard let event = GatewayLine(line, parser: parser) else { continue }
      switch event {
      case .welcome(let gateway, let apps):
        connected()
        continuation.yield(.connected(gateway: gateway))
        continuation.yield(.apps(apps))
      case .push(let push):
        // The person sees it at most once.
        guard push.seq == 0 || push.seq > last else { continue }
        if push.seq > 0 { last = push.seq }
        continuation.yield(.push(push))
      case .retract(let id): continuation.yield(.retract(id: id))
      case .gap(let dropped): continuation.yield(.gap(dropped: dropped))
      }
    }
  }

  // MARK: From the person and the device

  /// Saves that everything up to `seq` is the device's, and tells the gateway.
  func acknowledge(_ seq: UInt64) throws {
    guard seq > 0 else { return }
    try cursor.save(seq)
    send(#"{"type":"ack","seq":\#(seq)}"#)
  }

  /// Tells the gateway what was presented.
  func presented(_ id: String, _ parts: [Part]) {
    let names = parts.map { "\"\($0.rawValue)\"" }.joined(separator: ",")
    send(#"{"type":"presented","id":"\#(id)","parts":[\#(names)]}"#)
  }

  /// Tells the gateway what the person answered.
  func answer(_ id: String, _ action: String) {
    var line = Array(#"{"type":"answer","id":"\#(id)","action":"#.utf8)
    appendJSONString(action, to: &line)
    send(String(decoding: line, as: UTF8.self) + "}")
  }

  /// Tells the gateway, now and at every reconnect, whether the silent switch is on.
  func setSilent(_ isOn: Bool) {
    isSilent.withLock { $0 = isOn }
    send(#"{"type":"state","silent":\#(isOn)}"#)
  }

  /// Ends this side in good order: what was sent before this arrives.
  func finish() { stream.withLock { $0 }?.finish() }

  /// Waits until the gateway has ended its side too.
  func waitUntilFinished(atMost patience: Duration) async {
    let end = ContinuousClock.now + patience
    while stream.withLock({ $0 != nil }), ContinuousClock.now < end {
      try? await Task.sleep(for: .milliseconds(5))
    }
  }

  private func send(_ line: String) { stream.withLock { $0 }?.send(line) }
}

/// The number of the last push that is this device's, on disk.
final class CursorFile: Sendable {
  private let file: Int32
  private let path: String
  private let last: Mutex<UInt64>

  init(path: String) throws {
    self.path = path
    file = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw CommandFailure(.failed, "\(path) can't be written: check the folder's permissions") }
    var bytes = [UInt8](repeating: 0, count: 32)
    let count = unsafe pread(file, &bytes, bytes.count, 0)
    let text = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    last = Mutex(UInt64(text.prefix { $0.isNumber }) ?? 0)
  }

  deinit { close(file) }

  var value: UInt64 { last.withLock { $0 } }

  /// Returns when the number is on disk; a lower one than the last is ignored.
  func save(_ seq: UInt64) throws {
    try last.withLock { last in
      guard seq > last else { return }
      // Always the same width, so that one write replaces the whole number.
      let digits = String(seq)
      let text = Array((String(repeating: "0", count: 20 - digits.count) + digits + "\n").utf8)
      guard unsafe pwrite(file, text, text.count, 0) == text.count, fdatasync(file) == 0 else {
        throw CommandFailure(.failed, "\(path) can't be written: free some space; nothing is lost, start again then")
      }
      last = seq
    }
  }
}

/// A line of the gateway, as this client understands it.
enum GatewayLine {
  case welcome(gateway: String, apps: [PhoneApp])
  case push(ReceivedPush)
  case retract(id: String)
  case gap(dropped: Int)

  /// nil for lines that mean nothing to this client.
  init?(_ line: [UInt8], parser: JSONParser) {
    let parsed = try? parser.parse(line.span) { root -> GatewayLine? in
      switch root["type"]?.string {
      case "welcome":
        var apps: [PhoneApp] = []
        root["apps"]?.forEachElement { app in
          apps.append(
            PhoneApp(
              topic: app["topic"]?.string ?? "", name: app["name"]?.string ?? "", icon: app["icon"]?.string ?? ""))
        }
        return .welcome(gateway: root["gateway"]?.string ?? "", apps: apps)
      case "push":
        guard let seq = root["seq"]?.integer, let id = root["id"]?.string, let topic = root["topic"]?.string else {
          return nil
        }
        let app = PhoneApp(
          topic: topic, name: root["app"]?["name"]?.string ?? topic, icon: root["app"]?["icon"]?.string ?? "")
        let push = PhonePush(
          seq: UInt64(clamping: seq), id: id, topic: topic, app: app,
          received: root["received"]?.string.flatMap { try? Date($0, strategy: .iso8601Milliseconds) } ?? Date(),
          presentation: Presentation(), payload: GatewayLine.payload(of: line))
        return .push(ReceivedPush(seq: push.seq, push: push, line: line))
      case "retract": return root["id"]?.string.map { .retract(id: $0) }
      case "gap": return root["dropped"]?.integer.map { .gap(dropped: $0) }
      default: return nil
      }
    }
    guard var parsed = parsed ?? nil else { return nil }
    if case .push(var push) = parsed {
      struct Presented: Decodable { var presentation: Presentation }
      push.push.presentation =
        (try? JSONDecoder().decode(Presented.self, from: Data(line)))?.presentation ?? Presentation()
      parsed = .push(push)
    }
    self = parsed
  }

  /// The payload as it was sent: the gateway puts it last, and the mark before it can't occur within a string.
  private static func payload(of line: [UInt8]) -> String {
    let text = String(decoding: line, as: UTF8.self)
    guard let mark = text.range(of: #","payload":"#) else { return "{}" }
    return String(text[mark.upperBound...].dropLast())
  }
}

extension ParseStrategy where Self == Date.ISO8601FormatStyle {
  /// RFC 3339 with milliseconds, as the gateway writes times.
  fileprivate static var iso8601Milliseconds: Date.ISO8601FormatStyle {
    Date.ISO8601FormatStyle(includingFractionalSeconds: true)
  }
}
