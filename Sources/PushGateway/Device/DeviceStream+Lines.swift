import GatewayProtocol
import HTTP2Transport
import Logging
import NIOCore
import PushCore
import PushPolicy
import PushStorage

extension DeviceStream {
  func received(_ bytes: UnsafeRawBufferPointer) {
    guard !state.isEnded else { return }
    var rest = unsafe bytes[...]
    while let end = unsafe rest.firstIndex(of: UInt8(ascii: "\n")) {
      let piece = unsafe UnsafeRawBufferPointer(rebasing: rest[..<end]).assumingMemoryBound(to: UInt8.self)
      unsafe rest = unsafe rest[(end + 1)...]
      let line: DeviceLine?
      if partialLine.isEmpty {
        line = unsafe DeviceLine(piece.span, parser: shared.parser)
      } else {
        let whole = unsafe partialLine + piece
        partialLine = []
        line = DeviceLine(whole.span, parser: shared.parser)
      }
      if let line { handle(line) }
    }
    unsafe partialLine.append(contentsOf: rest)
    guard partialLine.count > Limits.maximumLineSize else { return }
    shared.meter.reached(.lineSize)
    end(reason: "line-too-long")
    partialLine = []
  }

  func receivedEnd() {
    // An event stream has no request body. A device that ends its side has disconnected.
    if framing == .lines { end(reason: "goodbye") }
  }

  func handle(_ line: DeviceLine) {
    let now = shared.parts.clock.milliseconds()
    switch line {
    case .hello(_, let number, let epoch, let isSilent, let focus):
      guard registryNumber == nil, !state.isEnded else { return }
      // A position in another numbering is meaningless: the pending pushes are sent from the first on.
      let cursor = epoch == shared.parts.backend.epoch ? number : 0
      guard cursor <= Limits.maximumCursor else { return end(reason: "cursor-too-large") }
      (deviceState.isSilent, deviceState.focus) = (isSilent, focus)
      shared.parts.conditions.report(deviceState, by: device.id)
      let streams = shared.parts.router.count(of: device.id)
      guard streams < Limits.maximumDeviceStreams else { return end(reason: "too-many-streams") }
      if streams == 0, let cluster = shared.parts.backend.cluster { AlertHandover.announce(cluster, device.id) }
      let number = shared.parts.router.attach(device.id, self, loop: loop)
      registryNumber = number
      // From here on the stream is notified when the secret is revoked; this checks that it was not revoked before.
      guard isKnown() else { return end(reason: "revoked") }
      shared.parts.presence.note(device.id, at: now / 1000)
      sendWelcome()
      sendRetractionNotice()
      for action in state.hello(cursor: cursor) { perform(action) }
      channels.begin(self, number: number)
      sendDueBroadcasts()
    case .acknowledge(let seq):
      perform(state.acknowledged(seq))
    case .acknowledgeBroadcast(let channel, let number):
      acknowledge(channel, number, now: now)
    case .undeliverable(let seq):
      guard seq <= state.cursor else { return }
      outstanding.remove { $0.seq == seq }
      shared.parts.mailbox.discard(device.id, seq: seq)
    case .presented(let id, let parts):
      guard isAffordable(shared.parts.budgets.allowsReport(device.id, at: now), at: now) else { return }
      receive(DeviceReport(id: id, kind: .presented(parts.map(\.rawValue)), at: now))
    case .answer(let id, let action):
      guard isAffordable(shared.parts.budgets.allowsAnswer(device.id, at: now), at: now) else { return }
      receive(DeviceReport(id: id, kind: .answered(action), at: now))
    case .state(let isSilent, let focus):
      deviceState.isSilent = isSilent ?? deviceState.isSilent
      if let focus { deviceState.focus = focus.name }
      shared.parts.conditions.report(deviceState, by: device.id)
    }
  }

  /// Returns true if the secret is still the device's.
  private func isKnown() -> Bool {
    defer { secret = nil }
    return secret.map { shared.parts.registrations.device(secret: $0)?.id == device.id } ?? true
  }

  func acknowledge(_ seq: UInt64, now: Int64) {
    logAcknowledged(through: seq, except: acknowledge(seq), now: now)
  }

  /// Logs that the device has the pushes up to `seq` that were sent and not acknowledged.
  func logAcknowledged(through seq: UInt64, except replaced: [UInt64] = [], now: Int64) {
    guard let first = outstanding.first, first.seq <= seq else { return }
    remember { ring in
      while let first = outstanding.first, first.seq <= seq {
        if replaced.isEmpty || !replaced.contains(first.seq) {
          if let time = first.push.sent.nanoseconds(until: now) { shared.meter.stages.acknowledge.record(time) }
          shared.log.append(
            .acknowledged, of: first.push, on: device.id, at: now, first.isFromStorage ? .fromStorage : nil)
        }
        if framing == .lines { ring.add(first.push) }
        outstanding.removeFirst()
      }
    }
  }

  /// - Returns: the numbers of pushes that were replaced before this device had them; the log already has their last
  ///   event.
  private func acknowledge(_ seq: UInt64) -> [UInt64] {
    guard outstanding.hasReplaceable else {
      shared.parts.mailbox.acknowledge(device.id, through: seq)
      return []
    }
    return shared.parts.mailbox.acknowledge(
      device.id, through: seq, replaceable: outstanding.replaceable(through: seq))
  }

  /// Returns true if a report is within the device's budget. Otherwise counts the refusal, which is logged once a
  /// minute.
  private func isAffordable(_ isWithinBudget: Bool, at now: Int64) -> Bool {
    if isWithinBudget { return true }
    if let count = shared.parts.budgets.noteRefusal(at: now) {
      shared.logger.log(
        .deviceBudgetMet, "device exceeded its report rate; excess reports are dropped",
        metadata: ["device": "\(device.name)", "lines": "\(count)"])
    }
    return false
  }

  /// Accepts a report about a push that the device was sent; looks the push up if it is not in memory.
  private func receive(_ report: DeviceReport) {
    if reports?.isEmpty ?? true, let push = sent(report.id) { return accept(report, push) }
    let reports = reports ?? makeReports()
    self.reports = reports
    reports.add(report)
  }

  private func makeReports() -> DeviceReports {
    let (pushes, device) = (shared.parts.pushes, device.id)
    return DeviceReports(
      loop: loop, find: { try await pushes.find($0, sentTo: device) }, accept: accept,
      refuse: { report in
        // The device need not repeat it.
        if case .answered = report.kind { self.confirm(report.id, isAnswered: nil) }
      })
  }

  /// Returns a push that the device was sent, if it is in memory.
  private func sent(_ id: APNSID) -> SentPush? {
    outstanding.push(id) ?? shared.parts.histories.push(id, of: device.id)
      ?? channels.message(id).map { SentPush($0, parser: shared.parser) }
  }

  private func accept(_ report: DeviceReport, _ push: SentPush) {
    switch report.kind {
    case .presented(let parts):
      if let time = push.sent.nanoseconds(until: report.at) { shared.meter.stages.present.record(time) }
      shared.log.append(
        .init(
          at: report.at, event: .presented, id: push.id, device: device.id, app: push.app, detail: .presented(parts)))
    case .answered(let action): answer(push, action, at: report.at)
    }
  }

  /// Stores an answer, then notifies the device of the effective answer. A device that gets no notice repeats its
  /// answer.
  private func answer(_ push: SentPush, _ action: String, at time: Int64) {
    let this = NIOLoopBound(self, eventLoop: loop)
    shared.parts.pushes.answer(push, action, by: device, on: registryNumber, at: time) { outcome in
      // An answer that can't be stored gets no reply; health reports the cause.
      guard case .success(let counting) = outcome else { return }
      this.eventLoop.execute { this.value.confirm(push.id, isAnswered: counting) }
    }
  }

  /// - Parameter action: the effective action; nil if the device answered a push that it was not sent, or that has no
  ///   such action.
  private func confirm(_ id: APNSID, isAnswered action: String?) {
    if hasCapacity { write(PushLine.answered(id, action)) }
  }
}
