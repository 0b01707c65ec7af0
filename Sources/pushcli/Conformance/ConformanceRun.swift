import Foundation
import PushGateway

/// A run of the checks against one client.
final class ConformanceRun {
  /// The observed behavior that a check does not accept.
  struct Failure: Error {
    var found: String
  }

  let gateway: ConformanceGateway
  let watch: ClientWatch
  private let tap: DeviceTap
  private let command: [String]
  /// The maximum time for each expectation.
  private let limit: Duration

  init(_ command: [String], limit: Duration) throws {
    (self.command, self.limit) = (command, limit)
    let watch = ClientWatch()
    self.watch = watch
    let tap = DeviceTap { watch.receive($0) }
    self.tap = tap
    gateway = try ConformanceGateway(tap)
  }

  /// Performs all checks. After a failure the client is started again for the next one.
  ///
  /// - Parameter report: receives each check, with the found behavior if it failed.
  func run(_ report: (ConformanceCheck, _ found: String?) -> Void) async {
    var lost: String?
    for check in ConformanceCheck.allCases {
      if let lost {
        report(check, lost)
        continue
      }
      do {
        try await perform(check)
        report(check, nil)
      } catch {
        report(check, ConformanceRun.words(error))
        if check != .removal, await !isRecovered() { lost = "no stream of the client after the failed check" }
      }
    }
    watch.kill()
  }

  private static func words(_ error: any Error) -> String { (error as? Failure)?.found ?? "\(error)" }

  /// Starts the client again if it does not run or has no stream.
  private func isRecovered() async -> Bool {
    watch.removeTrap()
    tap.refuse(false)
    let record = watch.record
    if record.end == nil, !record.open.isEmpty { return true }
    guard record.device != nil else { return false }
    do {
      try await startAgain()
      return true
    } catch {
      return false
    }
  }

  private func perform(_ check: ConformanceCheck) async throws {
    switch check {
    case .joins: try await join()
    case .acknowledges: try await deliver([ConformanceRun.alert("A push")])
    case .burst:
      try await deliver((1...ConformanceCheck.burstSize).map { ConformanceRun.alert("Number \($0)") })
    case .large: try await deliver([ConformanceRun.largest])
    case .pieces: try await showPieces()
    case .unknown: try await ignoreUnknown()
    case .badge:
      try await showBadge(7)
      try await showBadge(0)
    case .retraction: try await retract()
    case .storesFirst: try await killAtAcknowledgements(arePassed: true)
    case .showsOnce: try await killAtAcknowledgements(arePassed: false)
    case .absence: try await startAfterPushes()
    case .streamEnd, .goAway, .restart: try await reconnect(after: check)
    case .backoff: try await pauseBetweenAttempts()
    case .acknowledgesOnce:
      if let seq = watch.record.repeated.first { throw Failure(found: "the number \(seq) was acknowledged again") }
    case .removal: try await removeDevice()
    }
  }

  // MARK: The client

  /// Waits until a condition holds, or until the client ends.
  ///
  /// - Parameter missing: the found behavior if it does not hold.
  private func expect(
    _ condition: @escaping @Sendable (ClientRecord) -> Bool, else missing: (ClientRecord) -> String
  ) async throws {
    _ = await watch.wait(limit) { $0.end != nil || condition($0) }
    let record = watch.record
    if condition(record) { return }
    let end = record.end.map { "; the client ended with \($0.status)" } ?? " within \(limit.inSeconds)"
    throw Failure(found: missing(record) + end)
  }

  private func start() async throws {
    let streams = watch.record.streams
    try watch.start(command)
    try await expect({ $0.streams > streams }, else: { _ in "no stream" })
  }

  /// Kills the client, if it runs, and starts it again.
  private func startAgain() async throws {
    try await killClient()
    try await start()
  }

  private func killClient() async throws {
    watch.kill()
    guard await watch.wait(limit, until: { $0.end != nil }) else { throw Failure(found: "the killed client runs") }
  }

  private func join() async throws {
    try await start()
    guard let device = watch.record.device else { throw Failure(found: "a stream without a device") }
    guard try await gateway.register(device) else {
      throw Failure(found: "a stream of a device that is not registered for \(ConformanceGateway.topic)")
    }
  }

  // MARK: Pushes

  private static func alert(_ title: String) -> String {
    #"{"aps":{"alert":{"title":"\#(title)","body":"Sent by pushcli device-conformance."}}}"#
  }

  /// A payload of the maximum size, with characters that need care: an escaped quotation mark, and a line separator, which some
  /// functions treat as the end of a line.
  private static var largest: String {
    let head = #"{"aps":{"alert":{"title":"The \"largest\" payload","body":"Zürich 🚆\u2028Platform 4"}},"data":""#
    let tail = #""}"#
    return head + String(repeating: "x", count: 4096 - head.utf8.count - tail.utf8.count) + tail
  }

  /// Returns the line of a push that is not stored.
  private static func line(_ id: String, further members: String = "") -> String {
    let body = String(repeating: "Zürich ", count: 20) + "🚆"
    return #"{"type":"push","seq":0,"id":"\#(id)","topic":"\#(ConformanceGateway.topic)","#
      + #""app":{"name":"Conformance","icon":"🔔"},"received":"2026-01-02T03:04:05.678Z",\#(members)"presentation":"#
      + #"{"alert":{"title":"A line","subtitle":"","body":"\#(body)","buttons":["Close","View"]}},"#
      + #""payload":{"aps":{"alert":{"title":"A line","body":"\#(body)"}}}}"#
  }

  /// Sends pushes, and expects that each is shown once and acknowledged.
  @discardableResult
  private func deliver(_ payloads: [String]) async throws -> [String] {
    let ids = try await gateway.push(payloads)
    try await expectDelivered(ids)
    return ids
  }

  private func expectDelivered(_ ids: [String]) async throws {
    try await expect(
      { $0.missing(ids).isEmpty },
      else: { record in
        let (unseen, count) = (ids.count { record.shown[$0] == nil }, record.missing(ids).count)
        return "\(unseen) of \(ids.count) not reported as shown, \(count) not shown and acknowledged"
      })
    try expectOnce(ids)
  }

  private func expectOnce(_ ids: [String]) throws {
    let record = watch.record
    for id in ids {
      let count = record.shown[id] ?? 0
      guard count == 1 else { throw Failure(found: "the push \(id) was reported as shown \(count) times") }
    }
  }

  private func expectShown(_ ids: [String]) async throws {
    try await expect(
      { record in ids.allSatisfy { record.shown[$0] != nil } },
      else: { record in "\(ids.count { record.shown[$0] == nil }) of \(ids.count) lines not shown" })
    try expectOnce(ids)
  }

  private func showPieces() async throws {
    let ids = [UUID().uuidString, UUID().uuidString]
    // The size shares no factor with the size of the repeated text: pieces end within characters.
    tap.send(ids.map { ConformanceRun.line($0) }, inPiecesOf: 41)
    try await expectShown(ids)
  }

  private func ignoreUnknown() async throws {
    let (attempts, id) = (watch.record.attempts, UUID().uuidString)
    tap.send([
      #"{"type":"weather","temperature":21,"list":[1,{"deep":null}],"id":"\#(id)"}"#,
      ConformanceRun.line(id, further: #""later":{"list":[1,2.5,null,true]},"#),
      #"{"type":"gap","from":0,"to":0,"dropped":0,"later":"text"}"#,
    ])
    try await expectShown([id])
    try await deliver([ConformanceRun.alert("After an unknown line")])
    guard watch.record.attempts == attempts else { throw Failure(found: "the client connected again") }
  }

  private func showBadge(_ badge: Int) async throws {
    try await deliver([#"{"aps":{"alert":"A push with a badge","badge":\#(badge)}}"#])
    try await expect(
      { $0.badge == badge },
      else: { record in
        let found = record.badge.map { String($0) } ?? "none"
        return "the badge \(found) instead of \(badge)"
      })
  }

  private func retract() async throws {
    for id in try await deliver([ConformanceRun.alert("A push that is retracted")]) {
      try await gateway.retract(id)
      try await expect({ $0.retracted.contains(id) }, else: { _ in "the push was not reported as retracted" })
    }
  }

  // MARK: Ends

  private func killAtAcknowledgements(arePassed: Bool) async throws {
    var ids: [String] = []
    for number in 1...ConformanceCheck.kills {
      watch.setTrap(isPassed: arePassed)
      ids += try await gateway.push([ConformanceRun.alert("Killed \(number)")])
      let isEnded = await watch.wait(limit) { $0.end != nil }
      watch.removeTrap()
      guard isEnded else { throw Failure(found: "no acknowledgement within \(limit.inSeconds)") }
      try await start()
    }
    // All repetitions come before this push.
    try await deliver([ConformanceRun.alert("After the kills")])
    try expectOnce(ids)
  }

  private func startAfterPushes() async throws {
    try await killClient()
    let ids = try await gateway.push((1...3).map { ConformanceRun.alert("Away \($0)") })
    try await start()
    try await expectDelivered(ids)
  }

  private func reconnect(after check: ConformanceCheck) async throws {
    let streams = watch.record.streams
    switch check {
    case .goAway: tap.endConnection()
    case .restart:
      await gateway.stop()
      try await gateway.start()
    default: tap.endStream()
    }
    try await expectReconnected(after: streams)
  }

  private func expectReconnected(after streams: Int) async throws {
    try await expect({ $0.streams > streams }, else: { _ in "no new stream" })
    try await deliver([ConformanceRun.alert("After a new stream")])
  }

  private func pauseBetweenAttempts() async throws {
    let record = watch.record
    tap.refuse(true)
    tap.endStream()
    try await expect({ $0.attempts > record.attempts }, else: { _ in "no attempt to connect again" })
    try await Task.sleep(for: ConformanceCheck.refusalTime)
    let count = watch.record.attempts - record.attempts
    tap.refuse(false)
    guard count <= ConformanceCheck.maximumAttempts else { throw Failure(found: "\(count) attempts") }
    try await expectReconnected(after: record.streams)
  }

  private func removeDevice() async throws {
    guard let device = watch.record.device else { throw Failure(found: "no device") }
    try await gateway.remove(device)
    guard await watch.wait(limit, until: { $0.end != nil }) else {
      throw Failure(found: "the client still runs after \(limit.inSeconds)")
    }
    switch watch.record.end {
    case .exited(let status)? where status != 0: return
    case .exited(let status)?: throw Failure(found: "the exit status \(status)")
    case .signaled(let signal)?: throw Failure(found: "the end by signal \(signal)")
    case nil: throw Failure(found: "no end")
    }
  }
}
