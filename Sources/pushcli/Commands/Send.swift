import ArgumentParser
import Foundation
import GatewayClient
import GatewayProtocol
import HTTP2Transport
import PushCore
import PushPolicy

/// `pushcli send`: sends one push through the APNs provider API.
struct Send: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "send", abstract: "Send one push.",
    discussion: """
      The message is the text after the options; without it, standard input. With a title or another flag, standard \
      input is read only when it was piped into this command itself: a loop that reads lines keeps them. --file FILE \
      (or @FILE, or a name that ends in .json or .apns) is a whole payload instead; - is a payload on standard input. \
      A simulator's .apns file names its app itself. The push is signed with --key, --key-id and --team; without them, \
      with a key of the app's team in this folder or the state folder, else with the development key.

      Examples:
        pushcli send --to me/com.example.news "The train leaves in 5 minutes."
        pushcli send --to me/com.example.news --title "Train in 5 Minutes" --badge 1
        pushcli send --to me/com.example.news "Platform 4." --link https://x.example
        df -h / | pushcli send --to me/com.example.news --title "Room on Disk"
        pushcli send --token 4f0c…e1a9 --topic com.example.news payload.json
        echo '{"aps":{"badge":0}}' | pushcli send --to me/com.example.news -
        pushcli send --to me/com.example.news --title "Build Failed" --wait viewed
        pushcli send --to me/com.example.news \\
          --title "Stand-up in Five Minutes" --at 09:55
        pushcli send --to me/com.example.news \\
          --retract 2F3A1C5E-8B7D-4E09-9C61-5D0A7F3B2E14
        pushcli send --channel 3pCzY5mgVQJ1bQ8WAm0LQQ== \\
          --topic com.example.news --expires 1h state.json
      """)

  @Option(
    help: "DEVICE/TOPIC, or GROUP/TOPIC: the token is looked up at the gateway, as an administrator.",
    completion: CompletionCandidates.targets)
  var to: String?
  @Option(help: "The device token, in hex.") var token: String?
  @Option(
    help: "A broadcast channel instead of a device; --topic is the app.", completion: CompletionCandidates.channels)
  var channel: String?
  @Option(help: "The topic: the app's bundle id, with its suffix.", completion: CompletionCandidates.apps) var topic:
    String?
  @OptionGroup var content: PayloadOptions
  @Option(name: .shortAndLong, help: "A payload file, or - for standard input.", completion: .file()) var file: String?
  @Option(help: "A later push with the same id replaces this one.") var collapseID: String?
  @Option(help: "Expiration: seconds since 1970, or 30s, 10m, 2h, 7d from now, or from --at; 0 for one attempt.")
  var expires: String?
  @Option(help: "Deliver it later: 18:00, 2026-11-23T18:00, 2026-11-23T18:00+01:00, \"18:00 Europe/Berlin\".") var at:
    String?
  @Option(name: .customLong("in"), help: "Deliver it later: 30s, 10m, 2h, 7d from now.") var delay: String?
  @Option(help: "10, 5 or 1.") var priority: Int?
  @Option(
    help: "alert, background, voip, … (by the topic's suffix, else alert)",
    completion: .list(PushType.allCases.map(\.rawValue)))
  var pushType: String?
  @Option(help: "The apns-id, a UUID. (a new one)") var id: String?
  @Option(help: "Retract the push with this apns-id instead of sending one: devices remove it from their screens.")
  var retract: String?
  @OptionGroup var signing: SigningOptions
  @Option(help: "A certificate to show instead of signing with a key, a PEM file.", completion: .file())
  var certificate: String?
  @Option(help: "The certificate's key. (the certificate's file with .key at its end)") var certificateKey: String?
  @Option(
    help: "development or production, at a gateway that serves both. (its first listener's)",
    completion: CompletionCandidates.environments)
  var environment: String?
  @Option(help: "Wait until the push is acknowledged, viewed or closed.") var wait: Awaited?
  @Option(help: "How long to wait: 30s, 5m, 2h.") var timeout = "30s"
  @Argument(help: "The message; or a payload: FILE.json, FILE.apns, @FILE, or - for standard input.")
  var words: [String] = []
  @OptionGroup var gateway: GatewayOptions
  @OptionGroup var format: FormatOptions

  /// The event up to which `--wait` follows a push.
  enum Awaited: String, ExpressibleByArgument, CaseIterable { case acknowledged, viewed, closed }

  /// The output of `--json`.
  private struct Result: Encodable {
    var apnsID: String?
    var apnsUniqueID: String?
    var status: Int
    var reason: String?
    var message: String?
    var rule: String?
    /// The time of delivery, with its zone.
    var deliverAt: String?

    enum CodingKeys: String, CodingKey {
      case apnsID = "apns_id"
      case apnsUniqueID = "apns_unique_id"
      case status, reason, message, rule
      case deliverAt = "deliver_at"
    }
  }

  func validate() throws {
    guard [to, token, channel].count(where: { $0 != nil }) == 1 else {
      throw ValidationError("say whom to send to: --to DEVICE/TOPIC, --token TOKEN --topic TOPIC, or --channel ID")
    }
    guard at == nil || delay == nil else { throw ValidationError("give one of --at and --in, not both") }
    if let retract { try validateRetraction(retract) }
    guard channel == nil || (at ?? delay) == nil else {
      throw ValidationError("a broadcast can't be scheduled: leave --at and --in out")
    }
    try OptionValue.check(environment, "--environment", OptionValue.environments)
  }

  /// The options as a value.
  var push: ProviderPush {
    ProviderPush(
      to: to, token: token, channel: channel, topic: topic, content: content.content, collapseID: collapseID,
      expires: expires, at: at, delay: delay, priority: priority, pushType: pushType, id: id, signing: signing,
      certificate: certificate, certificateKey: certificateKey, environment: environment, gateway: gateway)
  }

  func run() async throws {
    let push = push
    if let retract { return try await takeBack(retract, push) }
    let timeout = try TimeSpan(timeout, option: "--timeout")
    _ = try push.deliveryTime(now: Date())
    var payload = try Payload(source(reading: .current), push.content)
    let (token, topic) = try await push.target(&payload)
    // A missing permission to follow the push is reported before the push is sent.
    let access = try await wait == nil ? nil : follower()
    let answer = try await push.post(payload.bytes, token: token, topic: topic)
    let refusal = ProviderRefusal(answer)
    report(answer, refusal, payload.bytes)
    guard answer.status == 200 else { throw CommandFailure(ProviderRefusal.exit(answer.status, refusal?.reason)) }
    if let time = try push.deliveryTime(now: Date()), answer.apnsDeliverAt == nil,
      Double(time.seconds) > Date().timeIntervalSince1970
    {
      throw CommandFailure(.failed, "this gateway schedules nothing: the push was delivered at once")
    }
    if let wait, let access, let id = answer.apnsID {
      try await follow(id, by: access, until: wait, atMost: timeout, payload.bytes)
    }
  }

  /// Returns the access to the delivery log, also at the other gateways of the cluster.
  private func follower() async throws -> ClusterAccess {
    let (admin, path) = try await LogPath.connect(gateway.state, for: nil)
    defer { admin.close() }
    guard path.isAdministered else {
      let names = Credentials.names(in: try gateway.state.folder)
      return ClusterAccess(gateway.state, try gateway.state.ways(reported: [], devices: names))
    }
    let device = to.map { String($0.prefix { $0 != "/" }) }
    let ways = try gateway.state.ways(reported: await admin.others(), devices: [device].compactMap(\.self))
    return ClusterAccess(gateway.state, ways)
  }

  func source(reading input: StandardInput) throws(CommandFailure) -> PayloadSource {
    try PayloadSource(words: words, file: file, content: content.content, input: input) { path in
      var isFolder: ObjCBool = false
      return unsafe FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && !isFolder.boolValue
    }
  }

  /// Returns the time that the gateway has confirmed, in the zone of the given time; nil if the gateway does not
  /// schedule.
  private func confirmed(_ answer: Client.Answer) -> String? {
    guard let seconds = answer.apnsDeliverAt.flatMap({ Int64($0) }) else { return nil }
    let zone = (try? push.deliveryTime(now: Date()))?.zone ?? .current
    return DeliveryTime(seconds: seconds, zone: zone).words
  }

  // MARK: The answer

  private func report(_ answer: Client.Answer, _ refusal: ProviderRefusal?, _ payload: [UInt8]) {
    let advice = refusal.flatMap { ProviderRefusal.advice(for: $0.reason, payload: payload) }
    if format.json {
      Output.json(
        Result(
          apnsID: answer.apnsID, apnsUniqueID: answer.apnsUniqueID, status: answer.status, reason: refusal?.reason,
          message: refusal?.policy?.message ?? advice, rule: refusal?.policy?.rule,
          deliverAt: confirmed(answer)))
    } else if answer.status == 200 {
      Output.data(answer.apnsID ?? "")
      if let time = confirmed(answer) { Output.words("it is delivered at \(time)") }
      if answer.apnsMarketing == "unsubscribed" {
        Output.words("the recipient has unsubscribed from the marketing of the app")
      }
    }
    guard answer.status != 200 else { return }
    Output.words("pushcli: refused with \(ProviderRefusal.words(answer.status, refusal, advice))")
  }

  // MARK: Retraction

  private func validateRetraction(_ id: String) throws {
    guard APNSID(id) != nil else { throw ValidationError("--retract is an apns-id, a UUID, not \"\(id)\"") }
    guard channel == nil else {
      throw ValidationError("a broadcast can't be retracted: name a device with --to, or --token and --topic")
    }
    guard words.isEmpty, file == nil, !content.content.isGiven, (at ?? delay) == nil, wait == nil, self.id == nil else {
      throw ValidationError("--retract retracts a push and sends none: leave out title, text and payload")
    }
  }

  /// Returns the gateway's answer to a retraction in a line for users.
  private static func words(ofRetraction result: String?) -> String {
    switch result {
    case "retracted": "retracted: it leaves the screens, and pending copies are not delivered"
    case "already": "it was retracted before"
    default: "the gateway has no such push for this device; a screen that still shows it removes it"
    }
  }

  private func takeBack(_ id: String, _ push: ProviderPush) async throws {
    var payload = Payload(bytes: [])
    let (token, topic) = try await push.target(&payload)
    let path = Paths.pushes.description + token + "/" + id
    let answer = try await push.request("DELETE", path, [(.apnsTopic, topic)], [])
    guard answer.status == 200, var result = try? decodeJSON([String: String].self, from: answer.body) else {
      guard answer.status != 404 else {
        throw CommandFailure(.failed, "this gateway has an earlier version, which can't retract pushes: upgrade it")
      }
      let refusal = ProviderRefusal(answer)
      report(answer, refusal, [])
      throw CommandFailure(ProviderRefusal.exit(answer.status, refusal?.reason))
    }
    result["apns_id"] = id
    format.print(result, words: Send.words(ofRetraction: result["result"]))
    // The exit code reports to scripts that no log has such a push; screens have removed it in any case.
    if result["result"] == "unknown" { throw CommandFailure(.suppressed) }
  }

  // MARK: Waiting

  /// Follows the push, also over restarts of the gateway, until it has reached the awaited event or can't reach it any
  /// more.
  private func follow(
    _ id: String, by access: ClusterAccess, until awaited: Awaited, atMost timeout: TimeSpan, _ payload: [UInt8]
  ) async throws {
    let end = ContinuousClock.now + timeout.duration
    var events = PushEvents(["id=\(pathPart(id))"], by: access)
    var progress = DeliveryProgress(awaited: awaited)
    if let name = to.map({ String($0.prefix { $0 != "/" }) }) {
      let group: GroupRecord? = try? await Admin(gateway.state).get(AdminPath.group(name))
      if group != nil { return try await follow(&events, of: name, until: awaited, end: end) }
    }
    // Events of other devices for a push with the same ID do not count. A broadcast has no device.
    var device = to.map { String($0.prefix { $0 != "/" }) }
    while let records = try await events.next(until: end) {
      device = device ?? records.last { $0.event == "accepted" }?.device
      for record in records where device == nil || record.device == device {
        if record.event == "accepted", let refused = await refusal(of: payload, record) {
          throw CommandFailure(.suppressed, "nothing of the push can be shown: \(refused)")
        }
        if !format.json { Output.words("\(record.at)  \(record.event)  \(record.detail ?? "")") }
        if try progress.take(record.event, record.facts) { return }
      }
    }
    if let failure = events.failure { throw failure }
    throw CommandFailure(.timedOut, "not \(awaited.rawValue) within \(timeout.seconds) seconds")
  }

  /// Follows a push to a group until it has reached the awaited event on one device, or can't reach it on any.
  private func follow(
    _ events: inout PushEvents, of group: String, until awaited: Awaited, end: ContinuousClock.Instant
  ) async throws {
    var (progress, failures): ([String: DeliveryProgress], [String: CommandFailure]) = ([:], [:])
    while let records = try await events.next(until: end) {
      for record in records {
        guard let device = record.device else { continue }
        if !format.json { Output.words("\(record.at)  \(device)  \(record.event)  \(record.detail ?? "")") }
        if device == group, record.event != "dropped" { continue }
        var one = progress[device] ?? DeliveryProgress(awaited: awaited)
        do throws(CommandFailure) {
          if try one.take(record.event, record.facts) { return }
        } catch {
          failures[device] = error
        }
        progress[device] = one
      }
      if let failure = failures.values.first, failures.count == progress.count { throw failure }
    }
    if let failure = events.failure { throw failure }
    throw CommandFailure(.timedOut, "not \(awaited.rawValue) within \(timeout)")
  }

  /// Returns the preference by which the user refuses all of an accepted push; nil if a part of it can be shown, or if
  /// the gateway can't be asked now.
  private func refusal(of payload: [UInt8], _ record: LogRecord) async -> String? {
    guard let device = record.device, let topic = record.topic,
      let push = try? JSONParser().payload(payload.span).notification, let admin = try? await Admin(gateway.state)
    else { return nil }
    let parts = RequestedPresentation(push, on: .init()).parts
    return try? await admin.refusal(of: parts, category: push.category, topic: topic, on: device)
  }
}

/// The delivery status of a push, from the events of the delivery log.
struct DeliveryProgress {
  let awaited: Send.Awaited
  private var asked: [Part] = []
  private var isSuppressed = false

  init(awaited: Send.Awaited) { self.awaited = awaited }

  /// Takes the next event; returns true if the push has reached the awaited event.
  ///
  /// - Throws: ``CommandFailure`` if it can't reach it any more, or arrived without a part.
  mutating func take(_ event: String, _ facts: DeliveryDetail = .nothing) throws(CommandFailure) -> Bool {
    switch event {
    case "transmitted": if case .asked(let push) = facts { asked = push.parts }
    case "suppressed":
      if case .removed(let removed) = facts, let refusal = Decision.Removal.refusalOfAll(asked, removed) {
        throw CommandFailure(.suppressed, "nothing of the push can be shown: \(refusal.refusalWords)")
      }
      // A push that a circumstance defers is in the center and can be seen there.
      isSuppressed = true
    // An answer shows that the user has seen the push.
    case "viewed", "closed", "action": return true
    case "presented": isSuppressed = false
    case "retracted": throw CommandFailure(.suppressed, "the push was retracted by its sender")
    case "dropped", "expired": throw CommandFailure(.suppressed, "the push was \(event) before it arrived")
    case awaited.rawValue:
      guard isSuppressed else { return true }
      throw CommandFailure(.suppressed, "a part of the push was suppressed by the user's preferences")
    default: break
    }
    return false
  }
}
