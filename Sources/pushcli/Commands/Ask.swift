import ArgumentParser
import Foundation
import GatewayClient
import GatewayProtocol
import PushCore
import PushPolicy
import Synchronization

/// `pushcli ask`: a question to a person, whose answer is the exit code.
struct Ask: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Ask a person, and wait for the answer.",
    discussion: """
      Sends an alert with actions and prints the id of the one that was picked. The exit code is 0 for the first \
      action, 11, 12, … for the others, 1 when the alert was closed without an answer, 7 when the time was up. A \
      question that nobody waits for any longer leaves the screen. A gateway that is started again meanwhile changes \
      nothing: the question is still there, and so is who waits.

      Examples:
        pushcli ask --to me/com.example.builds --title "Deploy to Production?" \\
          --action approve=Approve --action reject=Reject! --timeout 5m && ./deploy
        pushcli ask --to me/com.example.builds --title "Ready?" --action yes=Ready --timeout 1h --repeat
      """)

  @Option(help: "DEVICE/TOPIC, by the names of this gateway.") var to: String
  @Option(name: .shortAndLong, help: "The question.") var title: String
  @Option(name: .shortAndLong, help: "More words.") var body: String?
  @Option(help: "id=Title, or id=Title! for a destructive one; up to four.") var action: [ActionArgument] = []
  @Option(help: "The sound's name, or none.") var sound = "default"
  @Option(help: "How long to wait: 30s, 5m, 2h. (5m)") var timeout = "5m"
  @Flag(name: .customLong("repeat"), help: "Ask again when the alert is closed, until somebody answers.")
  var repeats = false
  @OptionGroup var gateway: GatewayOptions
  @OptionGroup var format: FormatOptions

  /// The pause before a question is sent again to a gateway that was away.
  private static let retryPause = Duration.milliseconds(500)
  /// The pause before a closed question comes again.
  private static let pause = Duration.seconds(5)

  private struct Result: Encodable {
    var action: String?
    var title: String?
    var apnsID: String
    var outcome: String

    enum CodingKeys: String, CodingKey {
      case action, title, outcome
      case apnsID = "apns_id"
    }
  }

  func validate() throws {
    if !(1...4).contains(action.count) { throw ValidationError("--action is given one to four times") }
    if to.split(separator: "/").count < 2 { throw ValidationError("--to is DEVICE/TOPIC") }
  }

  func run() async throws {
    let wait = try TimeSpan(timeout, option: "--timeout")
    guard wait.seconds > 0 else {
      throw CommandFailure(.usage, "--timeout is \"\(timeout)\": expected a time above 0s")
    }
    let admin = try await Admin(gateway.state)
    let end = ContinuousClock.now + wait.duration
    let category = try await putCategory(admin)
    // A question that is asked again takes the place of its last alert.
    let collapseID = UUID().uuidString
    let asked = Mutex<String?>(nil)
    let stops = StopSignals()
    let stopping = Task {
      guard await stops.next() != nil else { return }
      if let id = asked.withLock({ $0 }) { try? await takeBack(id) }
      Ask.exit(withError: ExitCode(Exit.interrupted.rawValue))
    }
    defer { stopping.cancel() }
    while true {
      let id = UUID().uuidString
      asked.withLock { $0 = id }
      try await send(id, category: category, collapseID: collapseID, end: end)
      let outcome = try await outcome(of: id, admin, end: end)
      if outcome.event == "closed", repeats, ContinuousClock.now + Ask.pause < end {
        try await Task.sleep(for: Ask.pause)
        continue
      }
      if outcome.event == "expired" { try? await takeBack(id) }
      return try report(outcome, id)
    }
  }

  /// The app's category for these actions, the same for the same ones.
  private func putCategory(_ admin: Admin) async throws -> String {
    let topic = String(to.split(separator: "/", maxSplits: 1)[1])
    let actions = action.map(\.action)
    let category =
      "ASK-" + actions.map { $0.id + ($0.isDestructive ? "!" : "") + "=" + $0.title }.joined(separator: "-")
    let name = category.utf8.count <= 64 ? category : "ASK-" + String(Ask.hash(category), radix: 16)
    let _: CategoryRecord = try await admin.post(
      "/admin/v1/apps/\(pathPart(topic))/categories", CategoryRecord(category: name, actions: actions))
    return name
  }

  /// FNV-1a.
  private static func hash(_ text: String) -> UInt64 {
    text.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
  }

  private func send(_ id: String, category: String, collapseID: String, end: ContinuousClock.Instant) async throws {
    let left = max(1, (end - ContinuousClock.now).components.seconds)
    var arguments = [
      "--to", to, "--title=\(title)", "--category=\(category)", "--collapse-id", collapseID, "--id", id, "--expires",
      "\(left)s",
    ]
    if let body { arguments.append("--body=\(body)") }
    if sound != "none" { arguments.append("--sound=\(sound)") }
    if let address = gateway.gateway { arguments += ["--gateway", address] }
    if let trust = gateway.trustPath { arguments += ["--ca", trust] }
    if let state = gateway.state.state { arguments += ["--state", state] }
    while true {
      do {
        let answer = try await Send.parse(arguments).delivered()
        if answer.status == 200 { return }
        let words = String(decoding: answer.body, as: UTF8.self)
        // A gateway that stops answers so. Under its id the question comes once, however often it is sent.
        let isStopping = words.contains("\"\(Reason.shutdown.rawValue)\"")
        guard isStopping, ContinuousClock.now + Ask.retryPause < end else {
          throw CommandFailure(.refused, "the question was refused with \(answer.status) \(words)")
        }
      } catch let failure as CommandFailure
        where failure.exit == .unreachable && ContinuousClock.now + Ask.retryPause < end
      {}
      try await Task.sleep(for: Ask.retryPause)
    }
  }

  /// The outcome of the question: `action`, `viewed`, `closed`, or nothing in time.
  private func outcome(of id: String, _ admin: Admin, end: ContinuousClock.Instant) async throws -> (
    event: String, detail: String
  ) {
    // Only the device that was asked can answer.
    let device = pathPart(String(to.split(separator: "/", maxSplits: 1)[0]))
    var events = PushEvents(
      ["id=\(pathPart(id))", "device=\(device)", "event=action,viewed,closed,dropped,expired,collapsed"],
      of: gateway.state, admin)
    while let records = try await events.next(until: end) {
      for record in records {
        switch record.event {
        case "action", "viewed", "closed": return (record.event, record.detail ?? "")
        default: return ("expired", "")
        }
      }
    }
    return ("expired", "")
  }

  /// Takes a question that nobody waits for any longer off the person's screens.
  private func takeBack(_ id: String) async throws {
    let device = String(to.split(separator: "/", maxSplits: 1)[0])
    try await Admin(gateway.state).delete("/admin/v1/devices/\(pathPart(device))/alerts/\(pathPart(id))")
  }

  private func report(_ outcome: (event: String, detail: String), _ id: String) throws {
    let index = outcome.event == "action" ? action.firstIndex { $0.action.id == outcome.detail } : nil
    let picked = index.map { action[$0].action }
    if format.json {
      Output.json(
        Result(
          action: picked?.id, title: picked?.title, apnsID: id,
          outcome: picked != nil ? "answered" : outcome.event == "expired" ? "timed out" : outcome.event))
    } else if let picked {
      Output.data(picked.id)
    }
    if let index {
      if index > 0 { throw ExitCode(10 + Int32(index)) }
      return
    }
    if outcome.event == "expired" { throw CommandFailure(.timedOut, format.json ? "" : "nobody answered in time") }
    throw CommandFailure(.failed, format.json ? "" : "the question was \(outcome.event) without an answer")
  }
}
