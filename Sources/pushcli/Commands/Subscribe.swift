import ArgumentParser
import Foundation
import GatewayClient
import GatewayProtocol
import PushCore
import TerminalUI

extension Appearance: ExpressibleByArgument {}

/// `pushcli subscribe`: the terminal device.
struct Subscribe: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "subscribe", abstract: "Receive pushes: full screen, or as lines for programs.",
    discussion: """
      On a terminal the device fills the screen: home with badges, alerts with Close and View. With --plain or \
      TERM=dumb the same device prints lines and reads commands; `help` lists them. For programs every push is a \
      readable paragraph, or with --json one line of JSON. The first device of a state folder is enrolled \
      automatically when the gateway runs on this machine. For further devices the command asks first, because a \
      mistyped name would be a new device; --enroll answers yes. --device may be left out when there is one device.

      The gateways of a cluster have the same devices and pushes. --gateway takes several of their addresses, \
      comma-separated; each gateway announces the others, which are remembered for the next start. When a connection \
      fails, is refused with 503 or the gateway ends, the device tries the next gateway at once and continues at the \
      same push. It pauses after it has tried all of them.

      Examples:
        pushcli subscribe --device me --app com.example.news
        pushcli subscribe --device me --json | jq .presentation.alert.title
        pushcli subscribe --device ci --enroll --json --once
        pushcli subscribe --device me --exec 'notify-send "$PUSH_TITLE"'
        pushcli subscribe --device me --gateway a.example:2197,b.example:2197
      """)

  @Option(
    help: "The device's name. (the only one in the state folder, or me)", completion: CompletionCandidates.devices)
  var device: String?
  @Flag(help: "Enroll the device if it is new, without a question.") var enroll = false
  @Option(help: "An app to register for first; repeatable.", completion: CompletionCandidates.apps) var app: [String] =
    []
  @Option(help: "A broadcast channel to subscribe to first; repeatable.", completion: CompletionCandidates.channels)
  var channel: [String] = []
  @Flag(help: "Lines of text instead of a full screen: for screen readers and slow terminals.") var plain = false
  @Flag(help: "The same, with typed lines from a standard input that is not a terminal: an editor, ssh.")
  var interactive = false
  @Flag(help: "Stop after one push, or at once when no gateway is reached.") var once = false
  @Option(help: "Stop after this many pushes; wait while the gateway is unreachable.") var count: Int?
  @Option(help: "A shell command to run for each push: fields in PUSH_…, JSON on its standard input.") var exec: String?
  @Option(
    help:
      "The same for an app, a level, answers or retractions, as TOPIC=COMMAND, critical=, answered= or retracted=COMMAND."
  )
  var execFor: [String] = []
  @Option(help: "On the phone: a shell command for what View opens; its link is in PUSH_LINK.") var open: String?
  @Option(help: "The same for one app, as TOPIC=COMMAND; repeatable.") var openFor: [String] = []
  @Option(help: "How many commands run at a time; one runs them in order.") var jobs = 1
  @Flag(
    help: "Acknowledge a push only after its command ended with 0; until then it is run again, at growing intervals.")
  var ackOnSuccess = false
  @Option(help: "The active Focus: the gateway defers the pushes that it does not allow.") var focus: String?
  @Option(help: "Full screen: light or dark. (as the terminal's background)")
  var appearance: Appearance?
  @Option(help: "Seconds between PINGs; a connection without an answer for twice that time is closed. (30)")
  var pingInterval: Int?
  @OptionGroup var gateway: GatewayOptions
  @OptionGroup var format: FormatOptions

  func validate() throws {
    if plain, format.json { throw ValidationError("--plain or --json, not both") }
    if interactive, format.json || once || count != nil || !commands.isEmpty {
      throw ValidationError("--interactive is for line mode, without --json, --exec, --once and --count")
    }
    if once, count != nil { throw ValidationError("--once or --count, not both") }
    if let pingInterval, !(1...3600).contains(pingInterval) {
      throw ValidationError("--ping-interval is from 1 to 3600")
    }
    if let count, count < 1 { throw ValidationError("--count is at least 1") }
    if !(1...64).contains(jobs) { throw ValidationError("--jobs is from 1 to 64") }
    if let wrong = openFor.first(where: { ExecCommands.pair($0) == nil }) {
      throw ValidationError("--open-for is TOPIC=COMMAND, not \(wrong)")
    }
    if let wrong = execFor.first(where: { ExecCommands.pair($0) == nil }) {
      throw ValidationError(
        "--exec-for is TOPIC=COMMAND, LEVEL=COMMAND, answered=COMMAND or retracted=COMMAND, not \(wrong)")
    }
    if ackOnSuccess, commands.isEmpty { throw ValidationError("--ack-on-success is for --exec") }
  }

  private var commands: ExecCommands { ExecCommands(everything: exec, pairs: execFor) }

  func run() async throws {
    // An invalid address stays invalid, so that a retry is useless.
    if gateway.gateway != nil { _ = try gateway.endpoint() }
    let credentials = try await enrolled()
    refreshAuthority()
    let session = try DeviceSession(
      credentials, folder: try gateway.state.folder, gateways: try gateway.deviceGateways(),
      pingInterval: pingInterval.map { .seconds($0) }, focus: focus)
    let environment = ProcessInfo.processInfo.environment
    let form = TerminalCapabilities.detect(environment)
    guard isPhone else { return try await receive(session) }
    let isFullScreen = !plain && !interactive && form.drawing != .plain
    let phone = PhoneSession(
      session, device: credentials.name, folder: try gateway.state.folder,
      sounds: try gateway.state.local.folder.soundsPath,
      commands: ExecCommands(everything: open, pairs: openFor),
      screen: PhoneSession.Screen(
        form: form, background: Appearance.reported(environment) ?? .dark, appearance: appearance,
        takesSequences: form.drawing != .plain && Terminal().isInteractive),
      sender: gateway.pushSending
    )
    try await isFullScreen ? phone.run() : phone.runInLines()
  }

  /// Asks a remote gateway for the CA certificates to trust from now on, in a separate task.
  private func refreshAuthority() {
    guard let context = try? gateway.state.context, context.isRemote else { return }
    Task { try? await context.refreshAuthority() }
  }

  /// True if a user types commands; output for programs only receives.
  private var isPhone: Bool {
    interactive || !format.json && commands.isEmpty && !once && count == nil && Terminal().isInteractive
  }

  /// Returns the device's credentials; enrolls an unknown device and registers it for the given apps and channels.
  private func enrolled() async throws -> Credentials {
    let credentials = try await credentials()
    guard !(app + channel).isEmpty else { return credentials }
    let access = try await DeviceAccess(credentials.name, gateway.state)
    for topic in app { try await access.register(topic) }
    for id in channel { try await access.subscribe(to: id) }
    return credentials
  }

  private func credentials() async throws -> Credentials {
    let folder = try gateway.state.folder
    if let device, let credentials = try Credentials.read(device, in: folder) { return credentials }
    if try gateway.state.context.isRemote, Credentials.names(in: folder).isEmpty, !enroll {
      let address = try gateway.endpoint()
      throw CommandFailure(
        .suppressed, "no device of this machine is known to \(address): `pushcli join CODE@\(address)` makes one")
    }
    let choice = try DeviceChoice(name: device, known: Credentials.names(in: folder), isEnrolling: enroll)
    let (name, isNew) = try choice.settled()
    if !isNew, let credentials = try Credentials.read(name, in: folder) { return credentials }
    let credentials = try await Credentials.enroll(name, person: nil, state: gateway.state)
    Output.words("enrolled \(name)")
    return credentials
  }

  private func receive(_ session: DeviceSession) async throws {
    let receiver = LineReceiver(
      session: session, form: format.json ? .json : .plain, maximumCount: once ? 1 : count, waits: !once,
      runner: commands.isEmpty ? nil : PushRunner(commands: commands, jobs: jobs, repeatsUntilSuccess: ackOnSuccess))
    try await receiver.run()
  }
}
