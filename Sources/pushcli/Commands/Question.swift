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

  private struct State {
    /// The push that is on screens now, and its devices.
    var id: String?
    var devices: [String] = []
    /// True if the question has ended: no more pushes are sent.
    var isOver = false
  }

  private let options: Ask
  private let admin: Admin
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

  init(_ options: Ask, topic: String, parties: Parties, end: ContinuousClock.Instant, _ admin: Admin) {
    (self.options, self.admin, self.topic, self.parties, self.end) = (options, admin, topic, parties, end)
  }

  /// Asks until there is an answer, no recipient can give one, or the time has passed.
  ///
  /// - Returns: the `apns-id` of the last push, and the outcome.
  func ask() async throws -> (id: String, QuestionProgress.Outcome) {
    let left = (end - .now) / .seconds(1)
    let request = CategoryRecord(
      category: category, actions: options.action.map(\.action),
      validSeconds: min(Limits.maximumLifetime, Int(left + Question.categoryMargin)))
    let _: CategoryRecord = try await admin.post(AdminPath.categories(topic), request)
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
    // If the gateway is away, the push and the category expire.
    guard let admin = try? await Admin(options.gateway.state) else { return }
    if let id = asked.id {
      for device in asked.devices { await takeBack(id, from: device, admin) }
    }
    try? await admin.delete(AdminPath.category(topic, category))
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
      if case .closed = outcome, options.repeats, ContinuousClock.now + Question.repeatPause < end {
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
    var events = PushEvents(
      ["id=\(pathPart(id))", "event=\(QuestionProgress.events)"], of: options.gateway.state, admin)
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
      if let words = try await admin.refusal(of: [.alert], category: category, topic: topic, on: device) {
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
    if state.withLock({ $0.isOver }), let admin = try? await Admin(options.gateway.state) {
      await takeBack(id, from: device, admin)
    }
  }

  private func send(_ id: String, to device: String) async throws {
    let left = max(1, (end - ContinuousClock.now).components.seconds)
    let sound = options.sound == "none" ? nil : options.sound
    let push = ProviderPush(
      to: "\(device)/\(topic)",
      content: PayloadContent(title: options.title, body: options.body, sound: sound, category: category),
      collapseID: collapseID, expires: "\(left)s", id: id, signing: options.signing, gateway: options.gateway)
    var absence = Absence(of: options.gateway.state)
    while true {
      do {
        let answer = try await push.delivered()
        if answer.status == 200 { return }
        let words = String(decoding: answer.body, as: UTF8.self)
        // The answer of a gateway that stops. With the same ID, the question arrives once, however often it is sent.
        let isStopping = words.contains("\"\(Reason.shutdown.rawValue)\"")
        guard isStopping, ContinuousClock.now + Question.retryPause < end else {
          throw CommandFailure(.refused, "the question was refused with \(answer.status) \(words)")
        }
      } catch let failure as CommandFailure
        where failure.exit == .unreachable && !failure.isPermanent && ContinuousClock.now + Question.retryPause < end
      {
        try absence.note(failure)
      }
      try await Task.sleep(for: Question.retryPause)
    }
  }
}
