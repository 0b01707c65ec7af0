import ArgumentParser
import Foundation
import GatewayProtocol
import PushCore
import PushGateway
import PushPolicy

/// `pushcli policy`: the effect of a user's preferences on new and on past pushes.
struct PolicyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "policy", abstract: "Show the effect of preferences on a push, and the reasons.",
    discussion: """
      Examples:
        pushcli policy explain --device me --topic com.example.news payload.json
        pushcli policy replay --device me --since 7d --set "quiet=22:00-07:00"
      """,
    subcommands: [PolicyExplain.self, PolicyReplay.self])
}

/// `pushcli policy explain`: the effect on one payload.
struct PolicyExplain: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "explain",
    abstract: "Show which parts of a payload a device would present, and which preference suppresses the others.",
    discussion: """
      Decides as the gateway would deliver the payload now, or at another time: with the user's present preferences, \
      and with the silent switch and the Focus that the device last reported. The command sends no push.

      Examples:
        pushcli policy explain --device me --topic com.example.news payload.json
        pushcli policy explain --device me --topic com.example.news \\
          --at 23:30 payload.json
        echo '{"aps":{"alert":"Late"}}' |
          pushcli policy explain --device me --topic com.example.news -

      Exit code: 0 when the whole payload is presented, 3 when a part is removed, 5 when the gateway would refuse the \
      push.
      """)

  @Option(help: "The device's name. (the only one here)", completion: CompletionCandidates.devices) var device: String?
  @Option(
    help: "The app's topic. (\"Simulator Target Bundle\" of the payload, or the device's only app)",
    completion: CompletionCandidates.apps)
  var topic: String?
  @Option(help: "When: RFC 3339 as 2026-11-21T23:30:00+01:00, or 23:30 for the next time a clock shows it. (now)")
  var at: String?
  @Option(help: "How many alerts the app has shown within the hour.") var recent = 0
  @Flag(inversion: .prefixedNo, help: "Whether the silent switch is on. (as the device last reported)")
  var silent: Bool?
  @Option(help: "The Focus that is on; an empty one for none. (as the device last reported)") var focus: String?
  @Argument(help: "A file with the payload, or - for standard input.", completion: .file()) var file: String
  @OptionGroup var options: AdminOptions

  func validate() throws { try OptionValue.check(recent, "--recent", 0...1_000_000_000) }

  func run() async throws {
    let bytes = try readFile(file)
    let access = try await DeviceAccess(device, options.state)
    let (record, preferences) = (try await access.record(), try await access.preferences())
    var parsed: ParsedPayload
    do {
      parsed = try JSONParser().payload(bytes.span)
    } catch {
      throw CommandFailure(.usage, "\(file == "-" ? "standard input" : file) is no payload: \(error.inWords)")
    }
    let topic = try topic(of: bytes, among: record.apps, of: access.name)
    var condition = Policy.DeviceState()
    condition.isSilent = silent ?? record.silent ?? false
    condition.focus = focus ?? record.focus
    if condition.focus == "" { condition.focus = nil }
    let apps: [ListedApp] = try await access.admin.get(access.appsPath)
    guard let app = apps.first(where: { $0.topic == topic }) else { throw access.unknownApp(topic) }
    let verdict = app.verdict(on: parsed, for: preferences)
    let now = Date()
    let seconds = try at.map { try DeliveryTime(at: $0, now: now).seconds } ?? Int64(now.timeIntervalSince1970)
    let decision = Policy.decide(
      parsed.notification, topic: topic, preferences: preferences, device: condition,
      at: .gateway(seconds), recentAlerts: recent,
      isAdvertisement: verdict != .pass, isMarketing: parsed.isMarketing,
      isNewCategory: parsed.notification.category.map { app.isNew($0) } ?? false,
      isReported: app.measure?.isActive(at: seconds) ?? false)
    if app.ads == "refuse", parsed.isMarketing,
      let violation = preferences.marketingViolation(by: parsed.notification, topic: topic)
    {
      parsed.violations.append(violation)
    }
    if app.ads == "refuse", verdict == .refuse, let alert = parsed.notification.alert {
      parsed.violations.append(AdDetector().violation(of: alert))
    }
    // With the policy mode `report`, the gateway logs violations and does not refuse pushes.
    if app.policyMode == "report" { parsed.violations = [] }
    let answer = Answer(parsed, decision, preferences, device: access.name, topic: topic)
    if options.json { Output.json(answer) } else { answer.show(parsed.notification) }
    if answer.verdict == "refused" { throw ExitCode(Exit.refused.rawValue) }
    if !decision.removed.isEmpty { throw ExitCode(Exit.suppressed.rawValue) }
  }

  private func topic(of bytes: [UInt8], among apps: [String], of device: String) throws -> String {
    if let topic { return topic }
    let named = try? JSONParser().parse(bytes.span) { $0["Simulator Target Bundle"]?.string }
    if let named = named ?? nil { return named }
    guard apps.count == 1 else {
      throw CommandFailure(.usage, "name the app with --topic: \(device) has \(apps.joined(separator: ", "))")
    }
    return apps[0]
  }

  /// The members of a listed app that are needed here.
  private struct ListedApp: Decodable {
    var topic: String
    var policyMode: String
    var ads: String?
    /// The categories that do not start quiet; nil: no category does.
    var knownCategories: [String]?
    /// The time in which alerts go to the summary because recipients reported them (N11); nil: there was none.
    var measure: SummaryMeasure?

    enum CodingKeys: String, CodingKey {
      case topic, ads, measure
      case policyMode = "policy_mode"
      case knownCategories = "known_categories"
    }

    /// Returns true if new categories start quiet, and this one is new (N10).
    func isNew(_ category: String) -> Bool { knownCategories.map { !$0.contains(category) } ?? false }

    /// Returns the detector's verdict on the push, if the app's mode and the user's preference permit it (A9).
    func verdict(on push: ParsedPayload, for preferences: Preferences) -> AdAssessment.Outcome {
      guard policyMode != "report", ads == "hold" || ads == "refuse", !push.isMarketing,
        let alert = push.notification.alert, preferences.apps[topic]?.advertising != true
      else { return .pass }
      return AdDetector().assess(alert)
    }
  }

  /// The output of the command.
  private struct Answer: Encodable {
    struct Removed: Encodable {
      var part: Part
      var rule: Rule
      var setting: String
      var reason: String
      var place: String
      var remedy: String
    }
    struct Refused: Encodable {
      var rule: Rule
      var at: String
      var message: String
    }

    /// The verdict: `presented`, `partly`, `held`, `suppressed`, `refused` or `nothing`.
    var verdict: String
    var topic: String
    var presented: Presentation
    var removed: [Removed]
    /// The violations for which the gateway refuses the push.
    var refused: [Refused]

    init(
      _ parsed: ParsedPayload, _ decision: Decision, _ preferences: Preferences, device: String, topic: String
    ) {
      self.topic = topic
      // A push that the gateway refuses is not presented on any device.
      presented = parsed.violations.isEmpty ? decision.presentation : Presentation()
      removed = decision.removed.map { removal in
        let words = Explanation(removal, preferences: preferences, device: device, topic: topic)
        return Removed(
          part: removal.part, rule: removal.rule, setting: removal.setting, reason: words.reason, place: words.place,
          remedy: words.remedy)
      }
      refused = parsed.violations.map { Refused(rule: $0.rule, at: $0.pointer, message: $0.message) }
      if !refused.isEmpty {
        verdict = "refused"
      } else if presented.held != nil {
        verdict = "held"
      } else if removed.isEmpty {
        verdict = presented.isEmpty ? "nothing" : "presented"
      } else {
        verdict = presented.parts.isEmpty ? "suppressed" : "partly"
      }
    }

    func show(_ asked: PushNotification) {
      for fault in refused { Output.data("refused by \(fault.rule.rawValue) at \(fault.at): \(fault.message)") }
      let rows = Part.allCases.map { part -> [String] in
        let removal = removed.first { $0.part == part }
        return [
          part.rawValue, words(asked, part) ?? "-", words(presented, part) ?? "-", removal?.rule.rawValue ?? "",
          removal.map { "\($0.reason), \($0.place)" } ?? "", removal?.remedy ?? "",
        ]
      }
      Output.table(["PART", "ASKED", "PRESENTED", "RULE", "BECAUSE", "TO CHANGE IT"], rows)
      if let held = presented.held {
        let due = held.until.map { Timestamp.text(seconds: $0, .seconds) }
        Output.data(due.map { "It waits for the summary of \($0)." } ?? "It waits for the next summary.")
      }
    }

    private func words(_ push: PushNotification, _ part: Part) -> String? {
      switch part {
      case .badge: push.badge.map(String.init)
      case .sound: push.sound?.name
      case .alert: push.alert.map { SummaryEntry.line(AlertPresentation(title: $0.title, body: $0.body)) }
      }
    }

    private func words(_ presentation: Presentation, _ part: Part) -> String? {
      switch part {
      case .badge: presentation.badge.map(String.init)
      case .sound: presentation.sound
      case .alert: presentation.alert.map(SummaryEntry.line) ?? presentation.center.map { _ in "in the center" }
      }
    }
  }
}

extension PayloadError {
  /// The error in a few words.
  var inWords: String {
    switch self {
    case .empty: "it is empty"
    case .notJSON(let words): "it is not JSON (\(words))"
    case .notAnObject: "it is not a JSON object"
    }
  }
}
