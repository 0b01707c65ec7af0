import Foundation

/// The text of the results of a run.
struct ScaleReport {
  private let run: ScaleRun
  private var size: ScaleSize { run.size }
  /// The number of devices per gateway.
  private var share: Double { Double(size.devices) / Double(size.gateways) }

  init(_ run: ScaleRun) { self.run = run }

  var lines: [String] { counted + [""] + used + [""] + [first] }

  // MARK: What was counted

  private var counted: [String] {
    [
      "\(size.gateways) gateways, \(size.devices) devices, \(size.partitions) partitions",
      "",
      "| step | how many | messages to brokers, from them, for one | bytes for one | gateways' µs for one | s | MB more |",
      "| --- | ---: | --- | ---: | ---: | ---: | ---: |",
    ] + steps.map(row)
      + [
        "",
        "messages to gateways with neither sender nor device: \(run.uninvolved)",
        "snapshot: \(megabytes(run.replica.snapshotSize)) MB",
        "remembering a push: \(text(run.remembering.before)) µs; when others are forgotten for it: "
          + "\(text(run.remembering.after)) µs",
        "devices found connected by presence: \(run.found) of \(run.listed.count)",
      ]
  }

  private var steps: [(name: String, Measurement)] {
    let replica = run.replica
    return [
      ("snapshot stored", replica.stored), ("snapshot taken over", replica.taken), ("replica read", replica.loaded),
      ("registration, with one gateway that follows", replica.registered),
      ("stored broadcast, with one that follows", replica.published),
      ("broadcast acknowledged, at its gateway", replica.acknowledged),
      ("the same, at each other gateway", replica.acknowledgementsTaken),
      ("subscriptions in the model alone", run.subscribed), ("device connects", run.connected),
      ("looked after once more, 2 s later", run.looked), ("looked after each 45 s", run.lookedInTurn),
      ("push to a device that is connected", run.sent), ("all gateways tell of themselves", run.announced),
      ("device in a list", run.listed), ("stream gets a broadcast", run.broadcast),
      ("device comes back after its gateway died", run.returned),
    ]
  }

  private func row(_ name: String, _ step: Measurement) -> String {
    let kinds = Traffic.Kind.allCases.compactMap { kind -> String? in
      let count = step.traffic[kind]
      guard count.sent + count.received > 0 else { return nil }
      return "\(kind) \(text(step.each(count.sent))), \(text(step.each(count.received)))"
    }.joined(separator: "; ")
    let bytes = text(step.each(step.traffic.total.bytes))
    return "| \(name) | \(step.count) | \(kinds) | \(bytes) | \(text(step.microseconds)) | \(text(step.seconds)) | "
      + "\(megabytes(step.memory)) |"
  }

  // MARK: What is used

  /// The use of one resource.
  private struct Use {
    var name: String
    /// The part that is independent of the number of devices, and the part that is proportional to it.
    var fixed = 0.0
    var growing: Double
    var capacity: Double
    var unit: String

    var used: Double { fixed + growing }
    var part: Double { used / capacity }
  }

  private func limit(_ use: Use) -> Int { Int(Double(size.devices) * (use.capacity - use.fixed) / use.growing) }

  private var uses: [Use] {
    let looks = Double(size.devices) / 45
    let gateways = Double(size.gateways)
    return [
      Use(
        name: "brokers' processors: pushes, and looks at mailboxes",
        fixed: Capacity.pushes * Capacity.brokerPush / 1000,
        growing: looks * Capacity.brokerLook / 1000, capacity: Capacity.brokerProcessor, unit: "ms/s"),
      Use(
        name: "a gateway's processor: the same", fixed: Capacity.pushes * Capacity.gatewayPush / 1000 / gateways,
        growing: share / 45 * run.lookedInTurn.microseconds / 1000, capacity: Capacity.gatewayProcessor, unit: "ms/s"),
      Use(
        name: "a gateway's memory", fixed: 1.0, growing: memory, capacity: Capacity.gatewayMemory, unit: "GB"),
      Use(
        name: "a new gateway's start", growing: run.replica.taken.seconds + run.replica.loaded.seconds,
        capacity: Capacity.recoveryTime, unit: "s"),
      Use(
        name: "a dead gateway's devices, at each of the others",
        growing: share * run.returned.microseconds / 1e6 / (gateways - 1), capacity: Capacity.recoveryTime, unit: "s"),
      Use(
        name: "each gateway, when all have acknowledged a stored broadcast",
        growing: Double(size.devices) * run.replica.acknowledgementsTaken.microseconds / 1e6,
        capacity: Capacity.recoveryTime, unit: "s"),
    ]
  }

  /// Gigabytes of one gateway for streams and the replica. The memory for remembered pushes is at most one gigabyte
  /// more.
  private var memory: Double { (share * Capacity.device * 1000 + Double(run.replica.loaded.memory)) / 1e9 }

  private var used: [String] {
    ["| | used | there is | part | devices at the limit |", "| --- | ---: | ---: | ---: | ---: |"]
      + uses.map { use in
        "| \(use.name) | \(text(use.used)) \(use.unit) | \(text(use.capacity)) | \(text(use.part * 100)) % | "
          + "\(limit(use)) |"
      }
  }

  private var first: String {
    guard let use = uses.min(by: { limit($0) < limit($1) }) else { return "" }
    return "The first limit: \(use.name), at \(limit(use)) devices and \(Int(Capacity.pushes)) pushes a second."
  }

  private func megabytes(_ bytes: Int) -> Int { bytes / 1_000_000 }

  private func text(_ number: Double) -> String {
    number == number.rounded() || number >= 1000
      ? String(Int(number)) : String(format: number < 10 ? "%.2f" : "%.1f", number)
  }
}
