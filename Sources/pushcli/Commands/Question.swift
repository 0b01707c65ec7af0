import Foundation
import GatewayClient
import GatewayProtocol
import PushCore
import PushPolicy
import Synchronization

/// A question that is being asked: its category, its pushes, and what comes of them. At its end nothing of it is left.
final class Question: Sendable {
  /// Whom to ask, and whom if they do not answer.
  struct Parties: Sendable {
    /// The names of devices that are asked at once.
    var first: [String]
    /// Those that are asked next; empty: nobody.
    var next: [String] = []
    /// How long the first have for an answer.
    var grace = Duration.zero
    /// The group that is asked at once, in place of devices; its name is the one of ``first``.
    var group: String?
    /// The devices of each of its members.
    var members: [[String]] = []
  }

  private struct State {
    /// The push that is on screens now, and where.
    var id: String?
    var devices: [String] = []
    /// Whether nobody waits for an answer any longer: nothing more is sent.
    var isOver = false
  }

  private let options: Ask
  private let admin: Admin
  private let topic: String
  private let parties: Parties
  private let end: ContinuousClock.Instant
  /// Of this question alone, so that it can be removed with it.
  private let category = Replay.questions + randomUUID()
  /// A question that is asked again takes the place of its last alert.
  private let collapseID = randomUUID()
  private let state = Mutex(State())

  /// The pause before a question is sent again to a gateway that was away.
  private static let retryPause = Duration.milliseconds(500)
  /// The pause before a closed question comes again.
  private static let repeatPause = Duration.seconds(5)
  /// How long a category outlasts its question, should nobody remove it, in seconds.
  private static let categoryMargin = 60.0

  init(_ options: Ask, topic: String, parties: Parties, end: ContinuousClock.Instant, _ admin: Admin) {
    (self.options, self.admin, self.topic, self.parties, self.end) = (options, admin, topic, parties, end)
  }

  /// Asks until there is an answer, nobody can give one, or the time is up.
  ///
  /// - Returns: the `apns-id` of the last push, and what came of it.
  func ask() async throws -> (id: String, QuestionProgress.Outcome) {
    let left = (end - .now) / .seconds(1)
    let request = CategoryRecord(
      category: category, actions: options.action.map(\.action),
      validSeconds: min(Limits.maximumLifetime, Int(left + Question.categoryMargin)))
    let _: CategoryRecord = try await admin.post("/admin/v1/apps/\(pathPart(topic))/categories", request)
    do {
      let found = try await askUntilAnswered()
      await takeBack()
      return found
    } catch {
      await takeBack()
      throw error
    }
  }

  /// Takes the question off all screens, and its category out of the gateway: nobody waits any longer.
  func takeBack() async {
    let asked = state.withLock { state in
      state.isOver = true
      return state
    }
    // Where the gateway is away the push expires, and so does the category.
    guard let admin = try? await Admin(options.gateway.state) else { return }
    if let id = asked.id {
      for device in asked.devices { await takeBack(id, from: device, admin) }
    }
    try? await admin.delete("/admin/v1/apps/\(pathPart(topic))/categories/\(pathPart(category))")
  }

  private func takeBack(_ id: String, from device: String, _ admin: Admin) async {
    try? await admin.delete(
      "/admin/v1/\(device == parties.group ? "groups" : "devices")/\(pathPart(device))/alerts/\(pathPart(id))?topic=\(pathPart(topic))"
    )
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
        // A group's answer has taken the question off all of its screens.
        let isGroups = parties.members.joined().contains(device)
        state.withLock { $0.devices.removeAll { $0 == device || (isGroups && $0 == parties.group) } }
      }
      return (id, outcome)
    }
  }

  /// Waits for what comes of a push; who is to be asked next is asked when the first have had their time, or all of them
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

  /// Asks some more, but for those whose choices refuse the question: nothing is sent that nobody can see.
  private func ask(_ devices: [String], _ id: String, _ progress: inout QuestionProgress) async throws {
    if let group = parties.group, devices == [group] {
      for member in parties.members { progress.ask(member) }
      return try await show(id, to: group)
    }
    progress.ask(devices)
    for device in devices {
      if let refused = try await Refused([.alert], category: category, topic: topic, on: device, admin) {
        progress.refuse(device, refused.words)
        continue
      }
      try await show(id, to: device)
    }
  }

  /// Sends it to a device, or a group, unless it is over; one that is over meanwhile leaves nothing there.
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
    var arguments = [
      "--to", "\(device)/\(topic)", "--title=\(options.title)", "--category=\(category)", "--collapse-id", collapseID,
      "--id", id, "--expires", "\(left)s",
    ]
    if let body = options.body { arguments.append("--body=\(body)") }
    if options.sound != "none" { arguments.append("--sound=\(options.sound)") }
    var absence = Absence(of: options.gateway.state)
    while true {
      do {
        let answer = try await options.send(arguments)
        if answer.status == 200 { return }
        let words = String(decoding: answer.body, as: UTF8.self)
        // A gateway that stops answers so. Under its id the question comes once, however often it is sent.
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
