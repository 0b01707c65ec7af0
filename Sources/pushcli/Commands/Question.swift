import Foundation
import GatewayClient
import GatewayProtocol
import PushCore
import PushPolicy
import Synchronization

/// An open question: its category, its pushes and its outcome. At its end the category and the pushes are removed.
final class Question: Sendable {
  /// The recipients of a question, and those for an escalation.
  struct Parties: Sendable {
    /// The names of the devices that are asked at once.
    var first: [String]
    /// The devices that are asked next; empty for none.
    var next: [String] = []
    /// The time that the first recipients have for an answer.
    var grace = Duration.zero
    /// The group that is asked at once, in place of devices; its name is the one in ``first``.
    var group: String?
    /// The devices of each member of the group.
    var members: [[String]] = []
  }

  /// The connections of a question: each continues at another gateway of the cluster.
  struct Way: Sendable {
    /// Requests as an administrator.
    let access: ClusterAccess
    /// Reads the delivery log: as an administrator, or as the device that is asked.
    let log: ClusterAccess
    let others: [GatewayAddress]
    /// The signer, which is found while the gateway can be asked for the keys of a team.
    let signer: ProviderTokenSigner

    /// Connects to the own gateway.
    ///
    /// - Throws: ``CommandFailure`` if no gateway runs there, or if this machine has no credentials for it.
    init(
      _ state: StateOptions, device: String, topic: String, _ signing: SigningOptions, _ gateway: GatewayOptions
    ) async throws {
      let admin = try await Admin(state)
      defer { admin.close() }
      others = await admin.others()
      let ways = try state.ways(reported: others, devices: [device])
      (access, log) = (ClusterAccess(state, ways.administered), ClusterAccess(state, ways))
      signer = try await ProviderPush(topic: topic, signing: signing, gateway: gateway).signer()
    }
  }

  private struct State {
    /// The push that is on screens now, and its devices.
    var id: String?
    var devices: [String] = []
    /// True if the question has ended: no more pushes are sent.
    var isOver = false
  }

  private let request: QuestionRequest
  private let way: Way
  private let topic: String
  private let parties: Parties
  private let end: ContinuousClock.Instant
  /// The category of this question only, so that it can be removed with the question.
  private let category = Replay.questions + randomUUID()
  /// The collapse ID: a repeated question replaces its previous alert.
  private let collapseID = randomUUID()
  private let state = Mutex(State())

  /// The pause before a question is sent again to a gateway that was away.
  private static let retryPause = Duration.milliseconds(500)
  /// The pause before a closed question is asked again.
  private static let repeatPause = Duration.seconds(5)
  /// The time in seconds after which the gateway removes the category of an ended question, if this command does not.
  private static let categoryMargin = 60.0

  init(_ request: QuestionRequest, topic: String, parties: Parties, end: ContinuousClock.Instant, _ way: Way) {
    (self.request, self.way, self.topic, self.parties, self.end) = (request, way, topic, parties, end)
  }

  /// Asks until there is an answer, no recipient can give one, or the time has passed.
  ///
  /// - Returns: the `apns-id` of the last push, and the outcome.
  func ask() async throws -> (id: String, QuestionProgress.Outcome) {
    let left = (end - .now) / .seconds(1)
    let record = CategoryRecord(
      category: category, actions: request.actions,
      validSeconds: min(Limits.maximumLifetime, Int(left + Question.categoryMargin)))
    let topic = topic
    try await way.access.run(until: end) {
      let _: CategoryRecord = try await $0.admin.post(AdminPath.categories(topic), record)
    }
    do {
      let found = try await askUntilAnswered()
      await takeBack()
      return found
    } catch {
      await takeBack()
      throw error
    }
  }

  /// Ends the question: removes it from all screens, and its category from the gateway.
  func takeBack() async {
    let asked = state.withLock { state in
      state.isOver = true
      return state
    }
    // If all gateways are away, the push and the category expire.
    await way.access.tryEach { [self] connection in
      if let id = asked.id {
        for device in asked.devices { await takeBack(id, from: device, connection.admin) }
      }
      try await connection.admin.delete(AdminPath.category(topic, category))
    }
  }

  private func takeBack(_ id: String, from device: String, _ admin: Admin) async {
    let path = device == parties.group ? AdminPath.groupAlert : AdminPath.deviceAlert
    try? await admin.delete(path(device, id) + "?topic=\(pathPart(topic))")
  }

  private func askUntilAnswered() async throws -> (id: String, QuestionProgress.Outcome) {
    var hasEscalated = parties.next.isEmpty
    while true {
      let id = randomUUID()
      state.withLock { $0.id = id }
      var progress = QuestionProgress()
      for devices in hasEscalated && !parties.next.isEmpty ? [parties.first, parties.next] : [parties.first] {
        try await ask(devices, id, &progress)
      }
      let outcome = try await follow(id, &progress, &hasEscalated)
      if case .closed = outcome, request.repeats, ContinuousClock.now + Question.repeatPause < end {
        try await Task.sleep(for: Question.repeatPause)
        continue
      }
      if case .answered(_, let device) = outcome {
        // The answer of a group's member has removed the question from all screens of the group.
        let isGroups = parties.members.joined().contains(device)
        state.withLock { $0.devices.removeAll { $0 == device || (isGroups && $0 == parties.group) } }
      }
      return (id, outcome)
    }
  }

  /// Waits for the events of a push. The next recipients are asked after the grace period, or once all first recipients
  /// have closed the question or can't see it.
  private func follow(
    _ id: String, _ progress: inout QuestionProgress, _ hasEscalated: inout Bool
  ) async throws -> QuestionProgress.Outcome {
    let escalation = ContinuousClock.now + parties.grace
    var events = PushEvents(["id=\(pathPart(id))", "event=\(QuestionProgress.events)"], by: way.log)
    while true {
      let isOver = ContinuousClock.now >= end
      if let outcome = progress.end, hasEscalated || isOver || progress.answer != nil { return outcome }
      if isOver {
        if let failure = events.failure { throw failure }
        return .expired
      }
      if !hasEscalated, progress.end != nil || ContinuousClock.now >= escalation {
        hasEscalated = true
        Output.words(
          "no answer from \(parties.first.joined(separator: ", ")): asking \(parties.next.joined(separator: ", "))")
        try await ask(parties.next, id, &progress)
        continue
      }
      let until = hasEscalated ? end : min(end, escalation)
      for record in try await events.next(until: until) ?? [] { progress.take(record) }
    }
  }

  /// Asks more devices, except devices whose user's preferences refuse the question: a push that can't be shown is not
  /// sent.
  private func ask(_ devices: [String], _ id: String, _ progress: inout QuestionProgress) async throws {
    if let group = parties.group, devices == [group] {
      for member in parties.members { progress.ask(member) }
      return try await show(id, to: group)
    }
    progress.ask(devices)
    for device in devices {
      let words = try await way.access.run(until: end) { [category, topic] in
        try await $0.admin.refusal(of: [.alert], category: category, topic: topic, on: device)
      }
      if let words {
        progress.refuse(device, words)
        continue
      }
      try await show(id, to: device)
    }
  }

  /// Sends the question to a device or a group unless it has ended; if it ends during the sending, the push is
  /// retracted.
  private func show(_ id: String, to device: String) async throws {
    let isOver = state.withLock { state in
      if !state.isOver, !state.devices.contains(device) { state.devices.append(device) }
      return state.isOver
    }
    guard !isOver else { throw CommandFailure(.interrupted) }
    try await send(id, to: device)
    if state.withLock({ $0.isOver }) {
      await way.access.tryEach { [self] in await takeBack(id, from: device, $0.admin) }
    }
  }

  private func send(_ id: String, to device: String) async throws {
    let left = max(1, (end - ContinuousClock.now).components.seconds)
    let sound = request.sound == "none" ? nil : request.sound
    let content = PayloadContent(title: request.title, body: request.body, sound: sound, category: category)
    let push = ProviderPush(
      topic: topic, content: content, collapseID: collapseID, expires: "\(left)s", id: id, signing: request.signing,
      gateway: request.gateway, knownSigner: way.signer, others: way.others, pingInterval: ClusterAccess.pingInterval)
    let token = try await way.access.run(until: end) { [topic] in
      try await push.registeredToken(of: device, topic, $0.admin)
    }
    let payload = try Payload(.flags(body: content.body), content)
    try await send(push, payload.bytes, to: token)
  }

  /// Sends a push until a gateway has accepted it: with the same ID, the question arrives once, however often it is
  /// sent.
  private func send(_ push: ProviderPush, _ payload: [UInt8], to token: String) async throws {
    var push = push
    var absence = Absence(of: request.gateway.state)
    while true {
      var pause = Question.retryPause
      do {
        let answer = try await push.post(payload, token: token, topic: topic)
        if answer.status == 200 { return }
        pause = max(pause, .seconds(answer.retryAfter ?? 0))
        // The answer of a gateway that stops, or that can't store now.
        guard answer.status == 503, ContinuousClock.now + pause < end else {
          let words = String(decoding: answer.body, as: UTF8.self)
          throw CommandFailure(.refused, "the question was refused with \(answer.status) \(words)")
        }
        absence.end()
      } catch let failure as CommandFailure
        where failure.exit == .unreachable && !failure.isPermanent && ContinuousClock.now + pause < end
      {
        if way.others.isEmpty { try absence.note(failure) }
      }
      push.skipped += 1
      try await Task.sleep(for: pause)
    }
  }
}
