import ArgumentParser
import Foundation
import PushGateway
import PushPolicy
import Synchronization

/// `pushcli subscribe`: the terminal device.
struct Subscribe: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Receive pushes: a phone in this terminal, or lines for programs.",
    discussion: """
      On a terminal the device fills the screen: home with badges, alerts with Close and View. Otherwise, and with \
      --plain, every push is a readable paragraph; with --json one line of JSON. A device that is not enrolled yet is \
      enrolled, where the gateway runs on this machine.

      Examples:
        pushcli subscribe --device me --app com.example.news
        pushcli subscribe --device me --json | jq .presentation.alert.title
        pushcli subscribe --device ci --json --once
        pushcli subscribe --device me --exec 'notify-send "$PUSH_TITLE"'
      """)

  @Option(help: "The device's name.") var device: String
  @Option(help: "An app to register for first; several may be given.") var app: [String] = []
  @Flag(help: "Paragraphs instead of a full screen.") var plain = false
  @Flag(help: "Stop after one push.") var once = false
  @Option(help: "Stop after this many pushes.") var count: Int?
  @Option(help: "A shell command to run for each push: fields in PUSH_…, JSON on its standard input.") var exec: String?
  @OptionGroup var gateway: GatewayOptions
  @OptionGroup var format: FormatOptions

  func validate() throws {
    if plain, format.json { throw ValidationError("--plain or --json, not both") }
    if once, count != nil { throw ValidationError("--once or --count, not both") }
    if let count, count < 1 { throw ValidationError("--count is at least 1") }
  }

  func run() async throws {
    let credentials = try await enrolled()
    let session = try DeviceSession(gateway: gateway, credentials: credentials)
    let isFullScreen = !plain && !format.json && exec == nil && !once && count == nil && Terminal().isInteractive
    if isFullScreen {
      try await PhoneSession(session, device: device, folder: gateway.state.folder).run()
    } else {
      try await receive(session)
    }
  }

  /// The device's credentials; a device or an app that is not known yet is made known.
  private func enrolled() async throws -> Credentials {
    let folder = gateway.state.folder
    var credentials = try Credentials.read(device, in: folder)
    if credentials == nil {
      credentials = try await Credentials.enrol(device, person: nil, state: gateway.state)
      Output.words("enrolled \(device)")
    }
    for topic in app {
      let _: RegistrationRecord = try await Admin(gateway.state).post(
        "/admin/v1/devices/\(pathPart(device))/registrations", RegistrationRequest(topic: topic, environment: nil))
    }
    guard let credentials else { throw CommandFailure(.failed, "\(device) can't be enrolled") }
    return credentials
  }

  // MARK: Lines

  private func receive(_ session: DeviceSession) async throws {
    let wanted = once ? 1 : count
    let acknowledger = Acknowledger(session)
    let turn = ShowingTurn()
    let stops = StopSignals()
    let stopping = Task {
      guard await stops.next() != nil else { return }
      await turn.stop()
      await acknowledger.settle()
      Foundation.exit(Exit.interrupted.rawValue)
    }
    defer { stopping.cancel() }
    var received = 0
    for await event in session.events() {
      switch event {
      case .push(let push):
        if let wanted, received >= wanted { continue }
        guard turn.begin() else { continue }
        try show(push)
        if !format.json { session.presented(push.push.id, push.push.presentation.parts) }
        acknowledger.stored(push.seq)
        turn.end()
        received += 1
        if received == wanted {
          await acknowledger.settle()
          session.finish()
        }
      case .gap(let dropped): Output.words("pushcli: \(dropped) pushes were dropped because too many waited")
      case .disconnected where received == wanted:
        // The gateway has read everything and ended its side.
        return
      case .disconnected(let reason, _) where session.isRefused:
        throw CommandFailure(.notAuthorised, reason)
      case .disconnected(let reason, let pause):
        Output.words(
          "pushcli: \(reason); trying again in \(pause.formatted(.units(allowed: [.seconds], fractionalPart: .show(length: 1))))"
        )
      case .connected(let gateway): Output.words("pushcli: connected to \(gateway)")
      case .apps, .retract: break
      }
    }
  }

  private func show(_ push: ReceivedPush) throws {
    if format.json { Output.data(push.line) } else { Output.data(PlainText.paragraph(for: push.push)) }
    if let exec { try PushCommand.run(exec, for: push) }
  }
}

/// Keeps a signal from coming between showing a push and acknowledging it: what was shown would be shown again.
private final class ShowingTurn: Sendable {
  private let state = Mutex((isShowing: false, isStopping: false))

  /// How long a push that is being shown may take to its end, once the command is to stop.
  private static let patience = Duration.seconds(2)

  /// Asks whether one more push may be shown; then ``end()`` is due.
  func begin() -> Bool {
    state.withLock { state in
      guard !state.isStopping else { return false }
      state.isShowing = true
      return true
    }
  }

  func end() { state.withLock { $0.isShowing = false } }

  /// Lets nothing more be shown; returns when what is being shown has been, or a reader does not take it.
  func stop() async {
    let deadline = ContinuousClock.now + ShowingTurn.patience
    while state.withLock({ state in
      state.isStopping = true
      return state.isShowing
    }), ContinuousClock.now < deadline {
      try? await Task.sleep(for: .milliseconds(5))
    }
  }
}

/// Saves and acknowledges behind the pushes: once for all that came while the last one was being saved.
private final class Acknowledger: Sendable {
  private let wishes: AsyncStream<UInt64>.Continuation
  private let task: Task<Void, Never>

  init(_ session: DeviceSession) {
    let (stream, continuation) = AsyncStream.makeStream(of: UInt64.self, bufferingPolicy: .bufferingNewest(1))
    wishes = continuation
    task = Task {
      for await seq in stream {
        do {
          try session.acknowledge(seq)
        } catch {
          Output.words("pushcli: \((error as? CommandFailure)?.message ?? "\(error)")")
        }
      }
    }
  }

  /// The push is where it belongs.
  func stored(_ seq: UInt64) { if seq > 0 { wishes.yield(seq) } }

  /// Waits until all of them are acknowledged.
  func settle() async {
    wishes.finish()
    await task.value
  }
}

/// A command of the person's, run for a push.
enum PushCommand {
  /// Runs it to its end; what it prints goes where our own words go.
  static func run(_ command: String, for push: ReceivedPush) throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-c", command]
    let presentation = push.push.presentation
    var environment = ProcessInfo.processInfo.environment
    environment["PUSH_SEQ"] = String(push.seq)
    environment["PUSH_ID"] = push.push.id
    environment["PUSH_TOPIC"] = push.push.topic
    environment["PUSH_APP"] = push.push.app.name
    environment["PUSH_TITLE"] = presentation.alert?.title ?? ""
    environment["PUSH_SUBTITLE"] = presentation.alert?.subtitle ?? ""
    environment["PUSH_BODY"] = presentation.alert?.body ?? ""
    environment["PUSH_BADGE"] = presentation.badge.map(String.init) ?? ""
    environment["PUSH_SOUND"] = presentation.sound?.name ?? ""
    process.environment = environment
    let input = Pipe()
    process.standardInput = input
    do {
      try process.run()
    } catch {
      throw CommandFailure(.failed, "/bin/sh can't be started: \(error)")
    }
    try? input.fileHandleForWriting.write(contentsOf: Data(push.line + [UInt8(ascii: "\n")]))
    try? input.fileHandleForWriting.close()
    process.waitUntilExit()
    if process.terminationStatus != 0 {
      Output.words("pushcli: the command ended with \(process.terminationStatus)")
    }
  }
}

extension Presentation {
  /// The parts that are presented.
  var parts: [Part] {
    Part.allCases.filter { part in
      switch part {
      case .badge: badge != nil
      case .sound: sound != nil
      case .alert: alert != nil
      }
    }
  }
}
