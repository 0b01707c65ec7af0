import ArgumentParser
import Foundation
import GatewayClient
import GatewayProtocol
import Glibc
import HTTP2Transport
import LoadTest
import PushCore

/// `pushcli bench`: a load test that verifies every delivery during the measurement.
struct Bench: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bench", abstract: "Measure a gateway under load, and check that every push arrives exactly once.",
    discussion: """
      Opens device streams and provider connections, sends at a fixed rate or at saturation, and counts the pushes \
      that arrive. At a fixed rate, latency counts from the time at which each push should have been sent, also when \
      the gateway is slow. Without --gateway and --state (or $PUSHGATEWAY_STATE) the command starts its own gateway \
      on a temporary folder. On an existing gateway it enrolls devices named bench-… and removes them at the end. \
      --gateway takes comma-separated addresses of a cluster's gateways: senders and devices are spread over them.

      Exit code 1 when a push was lost, duplicated or reordered, or a condition of --fail-if holds.

      Examples:
        pushcli bench --devices 1000 --providers 4 --rate max --duration 10 --pin
        pushcli bench --devices 1000 --rate 15000 --duration 30 \\
          --fail-if 'p99>25ms' --fail-if 'rate<14900'
        pushcli bench --state ./push --devices 100 --ramp 1000:20000 --duration 60 \\
          --json > load.json
        pushcli bench --state ./first --gateway 10.0.0.1:2197,10.0.0.2:2197 \\
          --rate 2000
        pushcli bench --accept-only --gateway 127.0.0.1:8443 --path / --ca ca.pem
      """)

  @Option(help: "Registered devices. (100; 1 with --accept-only and --catch-up)") var devices: Int?
  @Option(help: "Provider connections.") var providers = 4
  @Option(help: "Pushes a second, from 0.001 to 10000000, or max.") var rate: Rate?
  @Option(help: "FROM:TO pushes a second, changing evenly over the duration; each as in --rate.") var ramp: Ramp?
  @Option(help: "Seconds of the measurement.") var duration = 10.0
  @Option(help: "Seconds of load before the measurement.") var warmUp = 1.0
  @Option(help: "The number of pushes, in place of a time; without a warm-up.") var pushes: Int?
  @Option(help: "Size of a payload, in bytes.") var payload = 200
  @Option(help: "Requests in flight on each provider connection.") var streams = 100
  @Option(help: "Percentage of the devices that are registered and not connected.") var offline = 0.0
  @Option(help: "Percentage of the connected devices that read with pauses.") var slow = 0.0
  @Option(help: "Devices that drop and come back each second.") var churn = 0.0
  @Option(help: "Seconds until a push expires; 0: it is never stored. (30 days)") var expiration: Int?
  @Flag(help: "Send an apns-id with each push, and send again after a lost connection.") var ids = false

  @Flag(help: "Send requests only, to any HTTP/2 server; no device is connected.") var acceptOnly = false
  @Option(help: "With --accept-only: the path to send to. (/3/device/<token>)") var path: String?
  @Flag(help: "Half-way, all devices drop and come back at once.") var storm = false
  @Option(help: "The number of pending pushes of one device, which then connects.") var catchUp: Int?
  @Flag(help: "Connect the devices, and only measure the gateway's memory.") var idle = false

  @Flag(help: "Leave the devices and their pending pushes at the gateway.") var keep = false
  @OptionGroup var gateway: GatewayOptions
  @Option(help: "The topic. (the development key's)") var topic: String?
  @OptionGroup var signing: SigningOptions
  @Option(help: "The process to measure. (the gateway's, from its status)") var pid: Int32?

  @Flag(help: "Bind the own gateway and the load to separate cores.") var pin = false
  @Option(help: "Event loops of the load side.") var loops = 1
  @Option(help: "Event loops of the own gateway. (one per core; 1 with --pin)") var gatewayLoops: Int?
  @Option(help: "Durability of the own gateway: full or normal. (full)") var durability: String?
  @Option(help: "The folder in which the own gateway's state folder is made. ($TMPDIR, else /tmp)") var folder: String?

  @Option(
    help: "NAME>NUMBER or NAME<NUMBER, such as p99>25ms or rate<30000: then the test has failed; repeatable.")
  var failIf: [String] = []
  @Option(help: "Write the whole latency distribution to a file (.hgrm).") var histogram: String?
  @OptionGroup var format: FormatOptions

  /// A rate in pushes per second, or the maximum rate.
  enum Rate: ExpressibleByArgument, Equatable {
    case max
    case number(Double)

    init?(argument: String) {
      if argument == "max" {
        self = .max
      } else {
        guard let number = Double(argument), Rate.range.contains(number) else { return nil }
        self = .number(number)
      }
    }

    /// The permitted rates. The slowest sends one push in about a quarter of an hour, so that all times of a test can
    /// be represented.
    static let range = 0.001...10_000_000
  }

  /// A rate that changes from one value to another.
  struct Ramp: ExpressibleByArgument, Equatable {
    var from: Double
    var to: Double

    init?(argument: String) {
      let parts = argument.split(separator: ":").map { Double($0) }
      guard parts.count == 2, let from = parts[0], let to = parts[1], Rate.range.contains(from),
        Rate.range.contains(to)
      else { return nil }
      (self.from, self.to) = (from, to)
    }
  }

  func validate() throws {
    func require(_ isFine: Bool, _ words: String) throws { if !isFine { throw ValidationError(words) } }
    try require(
      [acceptOnly, storm, catchUp != nil, idle].filter { $0 }.count <= 1,
      "only one of --accept-only, --storm, --catch-up and --idle")
    try require(rate == nil || ramp == nil, "either --rate or --ramp")
    try require((devices ?? 1) >= 1 && (devices ?? 1) <= 1_000_000, "--devices is a number from 1 to 1000000")
    try require((1...1000).contains(providers), "--providers is a number from 1 to 1000")
    try require((1...1000).contains(streams), "--streams is a number from 1 to 1000")
    try require(
      (1...64).contains(loops) && loops <= providers, "--loops is a number from 1 to 64, and at most --providers")
    // Each loop needs at least one device to send to.
    try require(loops <= plan.devices, "--loops is at most the number of devices, which is \(plan.devices)")
    try OptionValue.check(gatewayLoops, "--gateway-loops", 1...256)
    try require((0.001...86_400).contains(duration), "--duration is in seconds, from 0.001 to 86400 (a day)")
    try require(warmUp >= 0 && warmUp <= 3600, "--warm-up is in seconds, up to an hour")
    try OptionValue.check(pushes, "--pushes", 1...LoadPlan.maximumPushes)
    try require(catchUp ?? 1 >= 1 && catchUp ?? 1 <= 1_000_000, "--catch-up is a number from 1 to 1000000")
    try require(
      (LoadPlan.minimumPayloadSize...4096).contains(payload),
      "--payload is a number from \(LoadPlan.minimumPayloadSize), which the test's own mark needs, to 4096")
    try require((0...100).contains(offline) && (0...100).contains(slow), "--offline and --slow are percentages")
    try require(churn == 0 || (0.001...10_000).contains(churn), "--churn is 0, or a number from 0.001 to 10000")
    try OptionValue.check(expiration, "--expiration", 0...315_360_000)
    try OptionValue.check(pid.map { Int($0) }, "--pid", 1...Int(Int32.max))
    try require(path == nil || acceptOnly, "--path is for --accept-only")
    try require(durability == nil || ["full", "normal"].contains(durability), "--durability is full or normal")
    for text in failIf { _ = try Threshold(text) }
    try require(
      gateway.gateway == nil || acceptOnly || hasState,
      "devices are enrolled through the admin socket of a gateway on this machine: name its folder with --state DIR "
        + "(--accept-only needs no devices)")
  }

  /// True if this command starts the gateway.
  private var isOwn: Bool { gateway.gateway == nil && !hasState }

  private var hasState: Bool {
    gateway.state.state != nil || !(ProcessInfo.processInfo.environment["PUSHGATEWAY_STATE"] ?? "").isEmpty
  }

  func run() async throws {
    DescriptorLimit.raise()
    let thresholds = try failIf.map { try Threshold($0) }
    let stops = StopSignals()
    let bar = ProgressBar()
    let test = Task { try await measure(bar) }
    let watch = Task {
      if await stops.next() != nil { test.cancel() }
    }
    defer { watch.cancel() }
    let outcome = await test.result
    bar.clear()
    let (report, setting) = try outcome.get()
    try present(report, setting, thresholds)
  }

  // MARK: The test

  private func measure(_ bar: ProgressBar) async throws -> (LoadTest.Report, BenchReport.Setting) {
    do {
      return isOwn
        ? try await measureOwn(bar) : try await measure(try gateway.state.local.folder, try gateway.endpoint(), bar)
    } catch let error as ClientError {
      throw CommandFailure(error)
    } catch let failure as LoadTest.Failure {
      throw CommandFailure(.failed, failure.description)
    } catch is CancellationError {
      throw CommandFailure(.interrupted)
    }
  }

  private func measureOwn(_ bar: ProgressBar) async throws -> (LoadTest.Report, BenchReport.Setting) {
    let cores = try pin ? self.cores() : nil
    var arguments = ["--log-level", "warning", "--mailbox-cap", String(max(10_000, catchUp ?? 0))]
    if let durability { arguments += ["--durability", durability] }
    if let count = gatewayLoops ?? (pin ? 1 : nil) { arguments += ["--loops", String(count)] }
    let parent = folder ?? ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp"
    let child = try ChildGateway(in: parent, arguments: arguments, cores: cores?.gateway ?? [])
    do {
      if let cores { try CorePinning.pinProcess(to: cores.load) }
      try await child.waitUntilReady()
      var options = gateway
      options.stateFolder = child.folder.path
      var (report, setting) = try await measure(child.folder, try options.endpoint(), bar)
      setting.isOwn = true
      setting.storage = child.storage
      setting.durability = durability ?? ProcessInfo.processInfo.environment["PUSHGATEWAY_DURABILITY"] ?? "full"
      setting.cores = cores
      await child.stop()
      return (report, setting)
    } catch {
      await child.stop()
      throw error
    }
  }

  /// Returns the cores of both sides: the first cores are for the gateway, the next ones for the load.
  private func cores() throws -> BenchReport.Setting.Cores {
    let available = CorePinning.available
    let count = gatewayLoops ?? 1
    guard available.count >= count + loops else {
      throw CommandFailure(
        .failed, "--pin needs \(count + loops) cores, and this process may use \(available.count): leave it out")
    }
    return .init(gateway: Array(available.prefix(count)), load: Array(available.dropFirst(count).prefix(loops)))
  }

  private func measure(
    _ folder: StateFolder, _ endpoint: Client.Endpoint, _ bar: ProgressBar
  ) async throws -> (LoadTest.Report, BenchReport.Setting) {
    guard case .tls(let host, let port, let trustPath, _, _) = endpoint else {
      preconditionFailure("devices connect with TLS")
    }
    guard FileManager.default.fileExists(atPath: trustPath) else {
      let reason = UnreadableFile.reason(of: trustPath)
      throw CommandFailure(
        .usage, "\(trustPath) can't be read: \(reason); name the certificates to trust with --ca FILE")
    }
    let isOurs = FileManager.default.fileExists(atPath: folder.adminSocket) && path == nil
    let development = folder.development
    let addresses = try [GatewayAddress(host: host, port: port)] + gateway.state.detours.dropFirst()
    var target = LoadTarget(
      addresses: addresses, trustPath: trustPath, adminSocket: isOurs ? folder.adminSocket : nil,
      topic: topic ?? development?.topic ?? "com.example.news")
    if !isOurs, !acceptOnly { target.adminSocket = folder.adminSocket }
    target.path = path
    target.pid = pid
    let ownKey = isOurs ? development : nil
    if signing.key != nil || ownKey != nil {
      let signer = try ProviderTokenSigner(signing, development: ownKey)
      target.authorization = { "bearer " + (try signer.token(now: Int(Date().timeIntervalSince1970))) }
    }
    let test = LoadTest(plan, target) { bar.show($0) }
    return (try await test.run(), BenchReport.Setting(gateway: "\(endpoint)", isOwn: false))
  }

  private var plan: LoadPlan {
    var plan = LoadPlan()
    plan.kind =
      if acceptOnly { .accept } else if storm { .storm } else if idle { .idle } else if let catchUp {
        .catchUp(catchUp)
      } else { .deliver }
    plan.devices = catchUp != nil ? 1 : devices ?? (acceptOnly ? 1 : 100)
    plan.providers = providers
    plan.pace = pace
    plan.duration = duration
    plan.pushes = catchUp ?? pushes
    plan.warmUp = plan.pushes == nil ? warmUp : 0
    plan.payloadSize = payload
    plan.streams = streams
    plan.offline = offline
    plan.slow = slow
    plan.churn = churn
    plan.expiration = expiration
    plan.hasIDs = ids
    // The gateway that this command starts is removed with all its devices.
    plan.keepsDevices = keep || isOwn
    plan.loops = loops
    return plan
  }

  private var pace: LoadPlan.Pace {
    if let ramp { return .ramp(from: ramp.from, to: ramp.to) }
    return switch rate {
    case .number(let rate): .steady(rate)
    case .max: .flatOut
    // A storm measures connections, not pushes.
    case nil: storm ? .steady(1000) : .flatOut
    }
  }

  // MARK: Output

  private func present(_ report: LoadTest.Report, _ setting: BenchReport.Setting, _ thresholds: [Threshold]) throws {
    let full = BenchReport(setting: setting, workload: workload, result: report.result, thresholds: thresholds)
    if format.json { Output.json(full) } else { for line in full.lines { Output.data(line) } }
    if let histogram {
      let latencies = report.deliveryLatencies.count > 0 ? report.deliveryLatencies : report.acceptLatencies
      try write(latencies.distribution, to: histogram)
    }
    if report.result.isLoadSaturated, format.json {
      Output.words("pushcli: the load side was busy all the time: it was the limit, not the gateway (--loops)")
    }
    if full.hasFailed { throw CommandFailure(.failed) }
  }

  private var workload: BenchReport.Workload {
    let plan = plan
    let kind =
      switch plan.kind {
      case .deliver: "deliver"
      case .accept: "accept"
      case .storm: "storm"
      case .catchUp: "catch_up"
      case .idle: "idle"
      }
    let rate =
      switch plan.pace {
      case .flatOut: "max"
      case .steady(let rate): BenchReport.decimal(rate, 0)
      case .ramp(let from, let to): "\(BenchReport.decimal(from, 0)):\(BenchReport.decimal(to, 0))"
      }
    return .init(
      kind: kind, devices: plan.devices, providers: plan.providers, rate: rate, durationSeconds: plan.duration,
      payloadBytes: plan.payloadSize, streams: plan.streams, offlinePercent: plan.offline, slowPercent: plan.slow,
      expiration: plan.expiration)
  }

  private func write(_ text: String, to path: String) throws {
    do {
      try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    } catch {
      throw CommandFailure(.failed, "\(path) can't be written: check the folder and its permissions")
    }
  }
}
