import ArgumentParser
import Foundation
import GatewayClient
import GatewayProtocol
import PushCore
import PushPolicy
import Synchronization

/// `pushcli ask`: asks a user a question; the exit code is the answer.
struct Ask: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "ask", abstract: "Ask a user a question, and wait for the answer.",
    discussion: """
      Sends an alert with actions and prints the id of the chosen action. The exit code is 0 for the first action, \
      11, 12, … for the others, 1 when the alert was closed without an answer, 3 at once when the user's preferences \
      hide it, 7 on a timeout. When quiet hours, a Focus or a summary defer the alert, the question is in the \
      notification center, and the command waits for its answer. When `ask` ends, the question is removed from all \
      screens and from the gateway. A restart of the gateway changes neither: the question and the command continue. In a \
      cluster, they continue at another gateway: as an administrator, or with the secret of the device that was asked, if \
      this machine has it. The exit code is 6 when the gateway of this machine is the only one and does not run for two \
      minutes.

      With --escalate-to, another device or all devices of another user are asked as well when the first has not \
      answered after --after. They are asked at once when the first closed the question or can't see it. The first \
      answer counts, and removes the question from the other screens.

      Examples:
        pushcli ask --to me/com.example.builds --title "Deploy to Production?" \\
          --action approve=Approve --action reject=Reject! --timeout 5m && ./deploy
        pushcli ask --to me/com.example.builds --title "Ready?" --action yes=Ready --timeout 1h --repeat
        pushcli ask --to ops/com.example.ops --title "Who Takes It?" --action mine=Mine
        pushcli ask --to ann/com.example.ops --title "Restart the Database?" --action yes=Restart! --timeout 1h \\
          --escalate-to bob --after 2m
      """)

  @Option(help: "DEVICE/TOPIC, or GROUP/TOPIC, by the names of this gateway.", completion: CompletionCandidates.targets)
  var to: String
  @Option(name: .shortAndLong, help: "The question.") var title: String
  @Option(name: .shortAndLong, help: "More words.") var body: String?
  @Option(help: "id=Title, or id=Title! for a destructive one; up to four.") var action: [ActionArgument] = []
  @Option(help: "The sound's name, or none.", completion: CompletionCandidates.sounds) var sound = "default"
  @Option(help: "How long to wait: 30s, 5m, 2h.") var timeout = "5m"
  @Flag(name: .customLong("repeat"), help: "Ask again when the alert is closed, until somebody answers.")
  var repeats = false
  @Option(help: "A further device or user to ask when there is no answer.") var escalateTo: String?
  @Option(help: "With --escalate-to: how long the first has for an answer. (2m, or half of --timeout)") var after:
    String?
  @OptionGroup var signing: SigningOptions
  @OptionGroup var gateway: GatewayOptions
  @OptionGroup var format: FormatOptions

  private struct Result: Encodable {
    var action: String?
    var title: String?
    var apnsID: String
    var outcome: String
    /// The device on which the question was answered.
    var device: String?
    /// The rule by which the user's preferences refuse the question.
    var rule: String?

    enum CodingKeys: String, CodingKey {
      case action, title, outcome, device, rule
      case apnsID = "apns_id"
    }
  }

  func validate() throws {
    if !(1...4).contains(action.count) { throw ValidationError("--action is given one to four times") }
    if to.split(separator: "/").count < 2 { throw ValidationError("--to is DEVICE/TOPIC, not \"\(to)\"") }
    if title.isEmpty { throw ValidationError("--title is the question, and empty") }
    if after != nil, escalateTo == nil {
      throw ValidationError("--after says when to ask whom: name one with --escalate-to")
    }
  }

  func run() async throws {
    let wait = try TimeSpan(timeout, option: "--timeout")
    guard wait.seconds > 0 else {
      throw CommandFailure(.usage, "--timeout is \"\(timeout)\": expected a time above 0s")
    }
    let grace = try after.map { try TimeSpan($0, option: "--after").seconds } ?? min(120, wait.seconds / 2)
    guard escalateTo == nil || grace < wait.seconds else {
      throw CommandFailure(
        .usage, "--after is \"\(after ?? "")\", and --timeout \"\(timeout)\": nobody else would be asked in that time")
    }
    var options = self
    if body == "-" { options.body = try StandardInput.text() }
    let end = ContinuousClock.now + wait.duration
    let parts = to.split(separator: "/", maxSplits: 1).map(String.init)
    let way = try await Question.Way(gateway.state, device: parts[0], topic: parts[1], signing, gateway)
    var parties = Question.Parties(first: [parts[0]], grace: .seconds(grace))
    let group = try await way.access.run(until: end) { try await Ask.group(parts[0], parts[1], $0.admin) }
    if let group {
      parties.group = group.name
      parties.members = group.members.map(\.devices).filter { !$0.isEmpty }
      guard !parties.members.isEmpty else {
        throw CommandFailure(.suppressed, "nobody in \(group.name) has a device that is registered for \(parts[1])")
      }
    }
    if let escalateTo {
      let found = try await way.access.run(until: end) { try await Ask.devices(of: escalateTo, parts[1], $0.admin) }
      parties.next = found.filter { $0 != parts[0] }
      guard !parties.next.isEmpty else {
        throw CommandFailure(.usage, "--escalate-to is \"\(escalateTo)\": expected somebody else than \(parts[0])")
      }
    }
    let question = Question(options, topic: parts[1], parties: parties, end: end, way)
    let stops = StopSignals()
    let isInterrupted = Atomic(false)
    let stopping = Task {
      guard await stops.next() != nil else { return }
      isInterrupted.store(true, ordering: .relaxed)
      await question.takeBack()
      Ask.exit(withError: ExitCode(Exit.interrupted.rawValue))
    }
    defer { stopping.cancel() }
    let found: (id: String, outcome: QuestionProgress.Outcome)
    do {
      found = try await question.ask()
    } catch {
      // Waits for the retraction: after an interruption, it also ends the question with an error, which the user must
      // not see.
      if isInterrupted.load(ordering: .relaxed) { await stopping.value }
      throw error
    }
    if isInterrupted.load(ordering: .relaxed) { await stopping.value }
    try report(found.outcome, found.id)
  }

  /// Returns the group with this name and its devices that are registered for an app; nil if there is none.
  private static func group(_ name: String, _ topic: String, _ admin: Admin) async throws -> GroupRecord? {
    do {
      return try await admin.get(AdminPath.group(name) + "?topic=\(pathPart(topic))")
    } catch let failure as CommandFailure where failure.status == 404 {
      return nil
    }
  }

  /// Returns the device with this name, or the devices of the user with this name, that are registered for the app.
  private static func devices(of name: String, _ topic: String, _ admin: Admin) async throws -> [String] {
    func isRegistered(_ device: String) async throws -> Bool {
      let registrations: [RegistrationRecord] = try await admin.get(
        AdminPath.registrations(device))
      return registrations.contains { topic == $0.topic || topic.hasPrefix($0.topic + ".") }
    }
    var found: [String] = []
    do {
      found = try await isRegistered(name) ? [name] : []
    } catch let failure as CommandFailure where failure.status == 404 {
      let person: PersonRecord
      do {
        person = try await admin.get(AdminPath.person(name))
      } catch let failure as CommandFailure where failure.status == 404 {
        throw CommandFailure(.suppressed, "there is no device and no user named \(name)")
      }
      for device in person.devices where try await isRegistered(device) { found.append(device) }
    }
    guard !found.isEmpty else {
      throw CommandFailure(
        .suppressed, "\(name) is not registered for \(topic): `pushcli devices register \(name) \(topic)`")
    }
    return found
  }

  private func report(_ outcome: QuestionProgress.Outcome, _ id: String) throws {
    var result = Result(apnsID: id, outcome: "timed out")
    var failure: CommandFailure?
    var index: Int?
    switch outcome {
    case .answered(let picked, let device):
      index = action.firstIndex { $0.action.id == picked }
      (result.outcome, result.device) = ("answered", device)
      (result.action, result.title) = (picked, index.map { action[$0].action.title })
    case .closed(let event):
      result.outcome = event
      failure = CommandFailure(.failed, "the question was \(event) without an answer")
    case .refused(let words):
      (result.outcome, result.rule) = ("refused", words)
      failure = CommandFailure(.suppressed, "nothing of the question can be shown: \(words)")
    case .expired: failure = CommandFailure(.timedOut, "nobody answered in time")
    }
    if format.json { Output.json(result) } else if let picked = result.action { Output.data(picked) }
    if var failure {
      if format.json { failure.message = "" }
      throw failure
    }
    if let index, index > 0 { throw ExitCode(10 + Int32(index)) }
  }
}
