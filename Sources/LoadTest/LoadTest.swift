import Foundation
import GatewayClient
import GatewayProtocol
import Glibc
import HTTP2Transport
import NIOCore
import NIOPosix
import PushCore

/// A load test: enrolls devices, connects them and the providers, sends as planned, and verifies during the measurement
/// that every accepted push arrives exactly once and in order.
package struct LoadTest: Sendable {
  /// The phases of a test, in their order.
  package enum Phase: String, Sendable {
    case enroll, connect
    case warmUp = "warm up"
    case run, drain
  }

  package struct Progress: Sendable {
    package var phase: Phase
    /// The completed share of the phase, from 0 to 1.
    package var share: Double
    package var accepted: Int
    package var delivered: Int
    package var connected: Int
  }

  /// The reason for the failure of a test, in one line.
  package struct Failure: Error, CustomStringConvertible {
    package var description: String
  }

  /// The result of a test, with the whole latency distributions.
  package struct Report: Sendable {
    package var result: LoadResult
    /// The distribution of the accept latency, for more than a few percentiles.
    package var acceptLatencies: Latencies
    package var deliveryLatencies: Latencies
  }

  private let plan: LoadPlan
  private let target: LoadTarget
  private let progress: @Sendable (Progress) -> Void
  private let batchName: String
  private let run: UInt16

  /// - Parameter progress: is called a few times a second with the progress of the test.
  package init(_ plan: LoadPlan, _ target: LoadTarget, progress: @escaping @Sendable (Progress) -> Void) {
    self.plan = plan
    self.target = target
    self.progress = progress
    run = UInt16.random(in: 1 ... .max)
    batchName = "bench-" + String(UInt64.random(in: 0 ... .max), radix: 36)
  }

  /// - Throws: ``Failure``; ``ClientError`` if no gateway answers; `CancellationError` if the task is canceled.
  package func run() async throws -> Report {
    let limit = DescriptorLimit.raise()
    let needed = plan.devices + plan.providers + LoadTest.otherDescriptors
    guard needed <= limit || plan.kind == .accept else {
      throw Failure(
        description: "\(plan.devices) devices need \(needed) open files, and this system allows a process \(limit): "
          + "at most \(limit - plan.providers - LoadTest.otherDescriptors) devices, or raise the limit (ulimit -Hn)")
    }
    let admin = try await target.adminSocket.asyncMap { try await Client.connect(to: .admin(path: $0)) }
    defer { admin?.close() }
    do {
      let report = try await run(admin)
      await removeDevices(admin)
      return report
    } catch {
      await removeDevices(admin)
      throw error
    }
  }

  /// The number of files and sockets in addition to those of devices and providers.
  private static let otherDescriptors = 64

  // MARK: Devices

  private func enroll(_ admin: Client?) async throws -> [BatchDevice] {
    guard let admin else { return [] }
    var devices: [BatchDevice] = []
    while devices.count < plan.devices {
      try Task.checkCancellation()
      let batch = BatchRequest(
        name: batchName, first: devices.count, count: min(LoadTest.batchSize, plan.devices - devices.count),
        topic: target.topic)
      let answer = try await admin.request("POST", AdminPath.batches(), body: controlJSON(batch))
      guard answer.status == 201 else {
        let problem = try? decodeJSON(ProblemRecord.self, from: answer.body)
        throw Failure(description: problem?.detail ?? "the gateway refused to enroll devices with \(answer.status)")
      }
      let made = try decodeJSON([BatchDevice].self, from: answer.body)
      guard made.count == batch.count, made.allSatisfy({ $0.token.utf8.count == 2 * DeviceToken.size }) else {
        throw Failure(
          description: "the gateway did not enroll the \(batch.count) requested devices: check its version")
      }
      devices += made
      report(.enroll, Double(devices.count) / Double(plan.devices), .init())
    }
    return devices
  }

  private static let batchSize = 2000

  private func removeDevices(_ admin: Client?) async {
    guard !plan.keepsDevices else { return }
    _ = try? await admin?.request("DELETE", AdminPath.batch(batchName))
  }

  private func gatewayPID(_ admin: Client?) async -> Int32? {
    if let pid = target.pid { return pid }
    guard let answer = try? await admin?.request("GET", AdminPath.status()) else { return nil }
    return (try? decodeJSON(GatewayStatus.self, from: answer.body))?.pid
  }

  // MARK: Phases

  private func run(_ admin: Client?) async throws -> Report {
    let clock = ContinuousClock()
    let pid = await gatewayPID(admin)
    var result = LoadResult(loadProcess: .init(pid: getpid()))
    let enrollBegan = clock.now
    let credentials = try await enroll(admin)
    result.enrollSeconds = (clock.now - enrollBegan).seconds

    let group = MultiThreadedEventLoopGroup(numberOfThreads: plan.loops)
    do {
      let fleet = try await WorkerPool(plan, target, run: run, credentials: credentials, group: group)
      let report = try await measure(fleet, pid, &result)
      try? await group.shutdownGracefully()
      return report
    } catch {
      try? await group.shutdownGracefully()
      throw error
    }
  }

  private func measure(_ fleet: WorkerPool, _ pid: Int32?, _ result: inout LoadResult) async throws -> Report {
    let clock = ContinuousClock()
    let before = pid.flatMap(ProcessUse.init)
    let connectBegan = clock.now
    if plan.kind != .idle { try await fleet.connectProviders() }
    try await fleet.connectDevices()
    try await waitUntilConnected(fleet)
    result.connectSeconds = (clock.now - connectBegan).seconds
    if plan.kind == .idle { await settle(pid) }
    let connected = pid.flatMap(ProcessUse.init)
    result.connectedDevices = await fleet.standing().live

    let start = NIODeadline.now()
    let began = clock.now
    var warm: (gateway: ProcessUse?, load: ProcessUse?, accepted: Int) = (connected, ProcessUse(pid: getpid()), 0)
    var measuredFrom = clock.now
    if plan.kind != .idle {
      await fleet.begin(start: start.uptimeNanoseconds)
      if plan.warmUp > 0 {
        try await run(.warmUp, until: began + .seconds(plan.warmUp), length: plan.warmUp, fleet)
        warm = (pid.flatMap(ProcessUse.init), ProcessUse(pid: getpid()), await fleet.standing().accepted)
        measuredFrom = clock.now
      }
      if plan.kind == .storm {
        try await run(.run, until: began + .seconds(plan.warmUp + plan.duration / 2), length: plan.duration / 2, fleet)
        await fleet.beginStorm()
      }
      try await send(fleet, began)
      result.runSeconds = (clock.now - measuredFrom).seconds
      let drainBegan = clock.now
      try await drain(fleet)
      result.drainSeconds = (clock.now - drainBegan).seconds
      if case .catchUp(let count) = plan.kind { result.catchUp = try await catchUp(fleet, count) }
    }
    let seconds = max(1e-9, (clock.now - measuredFrom).seconds)
    let atEnd = (gateway: pid.flatMap(ProcessUse.init), load: ProcessUse(pid: getpid()))
    let last = await fleet.standing()
    let (tally, missing) = await fleet.finish()
    result.warmUpSeconds = plan.warmUp
    result.pushes = pushes(tally, missing, last)
    result.seconds = tally.seconds
    result.acceptLatency = tally.acceptLatencies.summary
    result.deliveryLatency = tally.deliveryLatencies.summary
    result.elapsedSeconds = Double(max(tally.lastAnswer, tally.lastDelivery)) / 1e9
    // With a fixed number of pushes, the rate counts the time until the last one; otherwise it counts the planned
    // duration.
    func measured(_ last: UInt64) -> Double { plan.pushes == nil ? plan.duration : max(1e-9, Double(last) / 1e9) }
    result.acceptedPerSecond = Double(tally.acceptedMeasured) / measured(tally.lastAnswer)
    result.deliveredPerSecond = plan.isCatchUp ? 0 : Double(tally.deliveredMeasured) / measured(tally.lastDelivery)
    result.connectionsLost = tally.connectionsLost
    if let pid, let before, let connected, let from = warm.gateway, let to = atEnd.gateway {
      result.gatewayProcess = process(
        pid, from, to, seconds, accepted: tally.pushes.accepted - warm.accepted, before: before, connected: connected,
        streams: result.connectedDevices)
    }
    if let from = warm.load, let to = atEnd.load {
      result.loadProcess = process(
        getpid(), from, to, seconds, accepted: tally.pushes.accepted - warm.accepted, before: from, connected: from,
        streams: 0)
      result.isLoadSaturated = result.loadProcess.cpuShare > LoadTest.saturatedShare * Double(plan.loops)
    }
    if plan.kind == .storm, let storm = last.storm {
      result.storm = .init(
        devices: last.expectedDevices, connectedSeconds: storm.allLive.map { Double($0 - storm.began) / 1e9 },
        caughtUpSeconds: storm.caughtUp.map { Double($0 - storm.began) / 1e9 }, resumed: tally.resumed)
    }
    return Report(
      result: result, acceptLatencies: tally.acceptLatencies, deliveryLatencies: tally.deliveryLatencies)
  }

  private static let connectTimeout = 120.0
  /// The share of one core above which the load side is regarded as saturated: it no longer waits for the gateway.
  private static let saturatedShare = 0.93

  private func process(
    _ pid: Int32, _ from: ProcessUse, _ to: ProcessUse, _ seconds: Double, accepted: Int, before: ProcessUse,
    connected: ProcessUse, streams: Int
  ) -> LoadResult.Process {
    let cpu = to.cpu - from.cpu
    return .init(
      pid: pid, cpuSeconds: cpu, cpuSecondsPer100000: accepted > 0 ? cpu / Double(accepted) * 100_000 : nil,
      cpuShare: cpu / seconds, residentBytesBefore: before.resident, residentBytesConnected: connected.resident,
      residentBytesAtEnd: to.resident,
      residentBytesPerIdleStream: streams > 0 ? (connected.resident - before.resident) / streams : nil)
  }

  private func pushes(_ tally: LoadTally, _ missing: [Int: Int], _ last: LoadStanding) -> LoadResult.Pushes {
    var pushes = tally.pushes
    pushes.refused = pushes.refusals.values.reduce(0, +)
    pushes.unsent = last.unsent
    for (device, count) in missing {
      // A push that is never stored has no durability guarantee; a `gap` reported the pushes that the mailbox limit
      // evicted.
      let dropped = plan.expiration == 0 ? count : min(count, tally.dropped[device] ?? 0)
      pushes.dropped += dropped
      pushes.lost += count - dropped
    }
    return pushes
  }

  /// Waits until the gateway's memory no longer grows.
  private func settle(_ pid: Int32?) async {
    var last = 0
    for _ in 0..<20 {
      try? await Task.sleep(for: .milliseconds(250))
      let now = pid.flatMap(ProcessUse.init)?.resident ?? 0
      if now <= last { return }
      last = now
    }
  }

  /// Sends until the planned time has passed or the planned number of pushes is reached.
  private func send(_ fleet: WorkerPool, _ began: ContinuousClock.Instant) async throws {
    let clock = ContinuousClock()
    let end = began + .seconds(plan.warmUp + plan.duration)
    var lastRenewal = clock.now
    var lastSent = (count: -1, at: clock.now)
    while true {
      try Task.checkCancellation()
      let standing = await fleet.standing()
      try standing.check()
      if !standing.isSending { return }
      // Sending at a steady rate also ends if the gateway grants no capacity at all.
      if standing.sent + standing.accepted != lastSent.count {
        lastSent = (standing.sent + standing.accepted, clock.now)
      } else if clock.now - lastSent.at > .seconds(plan.silenceLimit), clock.now > end || plan.pushes != nil {
        return await fleet.stopSending()
      }
      let share =
        plan.pushes.map { Double(standing.sent) / Double($0) }
        ?? 1 - (end - clock.now).seconds / max(1e-9, plan.duration)
      report(.run, share, standing)
      if clock.now - lastRenewal > .seconds(LoadTest.tokenLifetime) {
        lastRenewal = clock.now
        try await fleet.renewAuthorization()
      }
      try? await Task.sleep(for: .milliseconds(20))
    }
  }

  /// The time in seconds between renewals of provider tokens, which are valid for one hour.
  private static let tokenLifetime = 1800.0

  /// Waits for the last answers and deliveries, as long as more arrive.
  private func drain(_ fleet: WorkerPool) async throws {
    try await wait(for: fleet, every: .milliseconds(5)) { standing in
      let isStormOver = plan.kind != .storm || standing.storm?.caughtUp != nil
      return (standing.isQuiet || plan.isCatchUp && standing.inFlight == 0) && isStormOver
    } progress: {
      $0.accepted + $0.refused + $0.delivered + $0.live
    }
  }

  /// Waits until all is done, or until nothing has changed for ``LoadPlan/silenceLimit``.
  private func wait(
    for fleet: WorkerPool, every interval: Duration, until isDone: (LoadStanding) -> Bool,
    progress: (LoadStanding) -> Int
  ) async throws {
    let clock = ContinuousClock()
    var last = (count: -1, at: clock.now)
    while true {
      try Task.checkCancellation()
      let standing = await fleet.standing()
      try standing.check()
      if isDone(standing) { return }
      let count = progress(standing)
      if count != last.count { last = (count, clock.now) }
      if clock.now - last.at > .seconds(plan.silenceLimit) { return }
      report(.drain, Double(standing.delivered) / Double(max(1, standing.expected)), standing)
      try? await Task.sleep(for: interval)
    }
  }

  private func catchUp(_ fleet: WorkerPool, _ count: Int) async throws -> LoadResult.CatchUp {
    await fleet.connectFirstDevice()
    try await wait(for: fleet, every: .milliseconds(2)) {
      $0.delivered + $0.dropped >= $0.expected
    } progress: {
      $0.delivered
    }
    let (delivered, seconds) = await fleet.caughtUp()
    return .init(
      pushes: delivered, seconds: seconds, pushesPerSecond: seconds > 0 ? Double(delivered) / seconds : 0)
  }

  private func run(
    _ phase: Phase, until end: ContinuousClock.Instant, length: Double, _ fleet: WorkerPool
  ) async throws {
    let clock = ContinuousClock()
    while clock.now < end {
      try Task.checkCancellation()
      let standing = await fleet.standing()
      try standing.check()
      if !standing.isSending { return }
      report(phase, 1 - (end - clock.now).seconds / max(1e-9, length), standing)
      try? await Task.sleep(until: min(end, clock.now + .milliseconds(20)), clock: clock)
    }
  }

  private func waitUntilConnected(_ fleet: WorkerPool) async throws {
    let clock = ContinuousClock()
    let end = clock.now + .seconds(LoadTest.connectTimeout)
    while true {
      try Task.checkCancellation()
      let standing = await fleet.standing()
      try standing.check()
      if standing.isConnected { return }
      if clock.now > end {
        throw Failure(
          description: "only \(standing.live) of \(standing.expectedDevices) devices and \(standing.readyProviders) of "
            + "\(standing.providers) providers connected within \(Int(LoadTest.connectTimeout)) s"
            + (standing.lastLoss.map { ": \($0)" } ?? ""))
      }
      report(.connect, Double(standing.live) / Double(max(1, standing.expectedDevices)), standing)
      try? await Task.sleep(for: .milliseconds(5))
    }
  }

  private func report(_ phase: Phase, _ share: Double, _ standing: LoadStanding) {
    progress(
      Progress(
        phase: phase, share: min(1, max(0, share)), accepted: standing.accepted, delivered: standing.delivered,
        connected: standing.live))
  }
}

extension LoadResult.Process {
  /// Makes the record of a process that has not been measured yet.
  package init(pid: Int32) {
    self.init(
      pid: pid, cpuSeconds: 0, cpuSecondsPer100000: nil, cpuShare: 0, residentBytesBefore: 0,
      residentBytesConnected: 0, residentBytesAtEnd: 0, residentBytesPerIdleStream: nil)
  }
}

extension Duration {
  /// The duration in seconds.
  fileprivate var seconds: Double { self / .seconds(1) }
}

extension Optional {
  fileprivate func asyncMap<Value>(_ transform: (Wrapped) async throws -> Value) async rethrows -> Value? {
    guard let self else { return nil }
    return try await transform(self)
  }
}
