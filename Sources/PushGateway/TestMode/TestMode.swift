import HTTP2Transport
import Logging
import NIOCore
import PushCore
import PushStorage

/// The additional parts of a test gateway: its clock, its record of pushes, and its API.
///
/// A production gateway has none of them. Pushes take the same way in both: a test gateway wraps the handler of each event
/// loop, and observes the rows of the delivery log.
final class TestMode: Sendable {
  let options: TestOptions
  let clock = AdvancingClock()
  let recorder: PushRecorder
  /// The results of expectations.
  let expectations = ExpectationLog()
  /// The maximum size of a request's body on HTTP/1.1 in bytes.
  let maximumBodySize = Limits.maximumTestBodySize
  private let devices: VirtualDevices
  private let tokens: DatedTokens
  private let recording: PushRecording?
  /// The key of all teams that senders name.
  private let publicKey: ES256Key

  init(_ options: TestOptions) throws {
    self.options = options
    let recording = try options.recording.map { path throws(ConfigurationError) in try PushRecording(path: path) }
    self.recording = recording
    recorder = PushRecorder(keep: options.keep) { recording?.write([$0]) }
    devices = VirtualDevices(recorder)
    tokens = DatedTokens(clock)
    publicKey = try ES256Key.generate()
  }

  /// The property of this gateway that health reports.
  var notice: HealthProblem {
    let checks = options.isStrict ? "" : ", and it accepts every sender"
    return HealthProblem(
      part: "test", problem: "this is a test gateway: its data ends with it\(checks)",
      since: WallClock.system.seconds)
  }

  /// The verification of provider tokens.
  var verification: TokenVerification {
    var verification = TokenVerification()
    verification.correction = { [tokens] in tokens.correction(of: $0) }
    guard !options.isStrict else { return verification }
    verification.checksSignatures = false
    // The key is registered with its first use; another team may have a key of the same name.
    verification.unknownKey = { [publicKey] id, team in
      let areValid = [id, team].allSatisfy { $0.utf8.count == 10 && $0.utf8.allSatisfy(\.isUpperOrDigit) }
      return areValid ? ProviderKey(id: id, team: team, publicKey: publicKey) : nil
    }
    return verification
  }

  /// Begins to record the rows of a delivery log that has a logger of ``rowLogger(_:)``.
  func observe(_ log: DeliveryLog) {
    log.observe { [recorder, tap = options.deviceTap] batch in
      let rows = LogBatch.rows(batch).map { $0.row }
      recorder.note(rows)
      tap?.note(acknowledged: rows.filter { $0.event == .acknowledged }.map(\.id))
    }
  }

  /// Returns a logger for the delivery log, which passes its rows on at the level `debug`.
  func rowLogger(_ logger: Logger) -> Logger { Logger(label: logger.label) { _ in RowLog(logger) } }

  /// Returns the registrations on first use.
  ///
  /// - Throws: ``ConfigurationError`` for another storage backend than SQLite.
  func firstUse(_ parts: GatewayParts, logger: Logger) throws(ConfigurationError) -> FirstUse {
    guard let registrations = parts.registrations as? SQLiteRegistrations else {
      throw ConfigurationError(description: "a test gateway stores its registrations in SQLite: omit the backend")
    }
    return FirstUse(registrations, groups: parts.groups, publicKey: publicKey, logger: logger)
  }

  /// Returns the handler of an event loop, which wraps the production handler. Call it on that loop.
  ///
  /// - Parameter serveAPI: serves a request of the test API.
  func handler(
    _ inner: any Handler, _ shared: LoopParts, loop: any EventLoop, firstUse: FirstUse,
    serveAPI: @escaping (Exchange) -> Void
  ) -> TestHandler {
    devices.join(shared, loop: loop)
    return TestHandler(
      inner, shared, loop: loop, recorder: recorder, firstUse: options.isStrict ? nil : firstUse, tokens: tokens,
      tap: options.deviceTap, serveAPI: serveAPI)
  }

  func api(_ parts: GatewayParts, firstUse: FirstUse, faults: FaultTable, tls: TestTLS) -> TestAPI {
    TestAPI(
      devices: TestDevicesAPI(
        parts: parts, recorder: recorder, firstUse: firstUse, devices: devices, faults: faults),
      pushes: TestPushesAPI(
        recorder: recorder, expectations: expectations, registrations: parts.registrations, clock: parts.clock),
      tests: TestListAPI(recorder: recorder, expectations: expectations, registrations: parts.registrations),
      control: TestControlAPI(parts: parts, recorder: recorder, clock: clock, tls: tls), options: options)
  }

  /// The report in lines of text: the numbers of all verdicts, and each mistake of the sender with the correct behavior.
  var report: [String] {
    let view = recorder.view(of: nil)
    return PushReport(view).text(count: view.pushes.count { !$0.isDelivery })
  }

  /// A sentence about pushes that the recording lacks; nil if there are none.
  var recordingProblem: String? { recording?.problem }

  /// Writes the recorded pushes to the recording.
  func finish() { recording?.write(recorder.view(of: nil).pushes) }
}

/// The log of a delivery log that is observed: it has the level `debug`, at which the delivery log passes its rows on. Messages
/// below the level of the log behind it are dropped.
private struct RowLog: LogHandler {
  private let logger: Logger
  var metadata: Logger.Metadata = [:]

  init(_ logger: Logger) { self.logger = logger }

  var logLevel: Logger.Level {
    get { .debug }
    set {}
  }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: Logging.LogEvent) {
    if event.level >= logger.logLevel { logger.handler.log(event: event) }
  }
}
