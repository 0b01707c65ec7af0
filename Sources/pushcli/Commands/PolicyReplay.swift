import ArgumentParser
import Foundation
import GatewayProtocol
import PushCore
import PushGateway
import PushPolicy

/// `pushcli policy replay`: the effect of other preferences on past pushes.
struct PolicyReplay: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "replay",
    abstract: "Apply other preferences to the pushes of the last days, and print the differences.",
    discussion: """
      Reads the delivery log and decides every push of the device again, with the user's preferences changed as the \
      options say. The command sends no push and changes no preference. Without changes it applies the present \
      preferences.

      Examples:
        pushcli policy replay --device me --since 7d --set "quiet=22:00-07:00"
        pushcli policy replay --device me --since 2d \\
          --app com.example.news --set delivery=summary
        pushcli policy replay --device me --since 30d \\
          --preferences changed.json --json
      """)

  @Option(help: "The device's name. (the only one here)", completion: CompletionCandidates.devices) var device: String?
  @Option(help: "How far back: 30s, 10m, 2h or 7d.") var since: String
  @Option(help: "A preference as in `pushcli prefs set`; repeatable.", completion: CompletionCandidates.choices)
  var set: [String] = []
  @Option(help: "The app's topic that --set is for. (everything)", completion: CompletionCandidates.apps) var app:
    String?
  @Option(help: "The app's category that --set is for. (the whole app)", completion: CompletionCandidates.categories)
  var category: String?
  @Option(help: "A file with all preferences, as `pushcli prefs --json` prints them.", completion: .file())
  var preferences: String?
  @Flag(help: "Print pushes without a difference, too.") var all = false
  @Option(help: "At most this many pushes of the newest; with --json all.") var limit = 50
  @OptionGroup var options: AdminOptions

  func validate() throws { try OptionValue.check(limit, "--limit", 0...1_000_000_000) }

  func run() async throws {
    let start = try TimeSpan(since, option: "--since", requiresUnit: true).before(Date())
    let access = try await DeviceAccess(device, options.state)
    if let app {
      let apps: [ListedApp] = try await access.admin.get(access.appsPath)
      guard apps.contains(where: { $0.topic == app }) else { throw access.unknownApp(app) }
    }
    let choices = try await choices(access)
    var unanswered = UnansweredGateways()
    let (log, _) = try await access.log.newest(["since=\(start)"], atMost: .max, access.admin, &unanswered)
    var replay = Replay(choices, offset: ZonedTime.gateway(0).offset)
    let outcomes = Replay.Delivery.all(in: log).map { replay.decide($0) }
    let changed = outcomes.filter { !$0.gained.isEmpty || !$0.lost.isEmpty }
    let shown = all ? outcomes : changed
    let held = outcomes.filter(\.isHeld).count
    let (lost, gained) = (changed.filter { !$0.lost.isEmpty }.count, changed.filter { !$0.gained.isEmpty }.count)
    Output.words(
      "\(counted(outcomes.count, "push", "pushes")), \(changed.count) different: \(lost) with less, "
        + "\(gained) with more, \(held) in a summary")
    if options.json { return Output.json(lines: shown.map(Line.init)) }
    if shown.isEmpty || limit == 0 { return }
    Output.table(
      ["AT", "APP", "ID", "WAS", "WOULD BE", "BECAUSE"],
      shown.suffix(limit).map { outcome in
        let reasons = outcome.removed.map {
          Explanation($0, preferences: choices, device: access.name, topic: outcome.delivery.topic).reason
        }
        return Line(outcome).row(because: reasons)
      })
    if shown.count > limit {
      let older = counted(shown.count - limit, "older push is", "older pushes are")
      Output.words("\(older) not shown: --limit \(shown.count) shows all")
    }
  }

  private struct ListedApp: Decodable {
    var topic: String
  }

  /// Returns the user's preferences with the changes of the options.
  private func choices(_ access: DeviceAccess) async throws -> Preferences {
    var choices: Preferences
    if let preferences {
      let bytes = try readFile(preferences)
      let fault = try? JSONParser().parse(bytes.span) { Preference.Scope.everything.error(in: $0) }
      if let fault = fault ?? nil { throw CommandFailure(.failed, "\(preferences): \(fault)") }
      do {
        choices = try decodeJSON(Preferences.self, from: bytes)
      } catch {
        throw CommandFailure(.failed, "\(preferences) has no preferences: `pushcli prefs --json` shows the form")
      }
    } else {
      choices = try await access.preferences()
    }
    for assignment in set {
      do throws(SettingError) {
        try choices.set(assignment, app: app, category: category)
      } catch {
        throw CommandFailure(.usage, error.description)
      }
    }
    return choices
  }

  /// One push as it is printed.
  private struct Line: Encodable {
    var at: String
    var topic: String
    var id: String
    var was: [Part]
    var wouldBe: [Part]
    var isHeld: Bool
    var removed: [Decision.Removal]

    enum CodingKeys: String, CodingKey {
      case at, topic, id, was, removed
      case wouldBe = "would_be"
      case isHeld = "held"
    }

    init(_ outcome: Replay.Outcome) {
      at = Timestamp.text(seconds: outcome.delivery.at, .seconds)
      topic = outcome.delivery.topic
      id = outcome.delivery.id
      was = outcome.delivery.presented
      wouldBe = outcome.presented
      isHeld = outcome.isHeld
      removed = outcome.removed
    }

    func row(because reasons: [String]) -> [String] {
      func words(_ parts: [Part]) -> String {
        parts.isEmpty ? "nothing" : parts.map(\.rawValue).joined(separator: " ")
      }
      let unique = reasons.indices.filter { reasons.firstIndex(of: reasons[$0]) == $0 }.map { reasons[$0] }
      return [
        at, topic, id, words(was), words(wouldBe) + (isHeld ? ", in a summary" : ""), unique.joined(separator: ", "),
      ]
    }
  }
}
