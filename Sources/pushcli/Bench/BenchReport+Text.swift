import Foundation
import LoadTest

extension BenchReport {
  /// The report as a page of text.
  var lines: [String] { BenchReport.lines(self) }

  private static func lines(_ report: BenchReport) -> [String] {
    let (result, pushes, work) = (report.result, report.result.pushes, report.workload)
    var rows: [(String, String)] = [("Gateway", gateway(report.setting)), ("Workload", workloadText(work))]
    if work.kind != "idle" {
      rows.append(("Accepted", "\(grouped(pushes.accepted))   \(rate(result.acceptedPerSecond))" + trouble(pushes)))
    }
    if pushes.expected > 0 || pushes.delivered > 0 {
      let checks =
        "lost \(grouped(pushes.lost)), duplicated \(grouped(pushes.duplicated)), reordered \(grouped(pushes.reordered))"
      rows.append(("Delivered", "\(grouped(pushes.delivered))   \(rate(result.deliveredPerSecond))   \(checks)"))
      let others = [("misdelivered", pushes.misdelivered), ("dropped, as promised", pushes.dropped)]
      let more = others.filter { $0.1 > 0 }.map { "\($0.0) \(grouped($0.1))" }
      if !more.isEmpty { rows.append(("", more.joined(separator: ", "))) }
    }
    if let storm = result.storm {
      func time(_ seconds: Double?) -> String { seconds.map { "\(decimal($0, 2)) s" } ?? "never" }
      rows.append(
        (
          "Storm",
          "\(grouped(storm.devices)) devices dropped; connected after \(time(storm.connectedSeconds)), caught up after "
            + "\(time(storm.caughtUpSeconds)); \(grouped(storm.resumed)) TLS sessions resumed"
        ))
    }
    if let catchUp = result.catchUp {
      rows.append(
        (
          "Catch-up",
          "\(grouped(catchUp.pushes)) waiting pushes in \(decimal(catchUp.seconds, 2)) s   \(rate(catchUp.pushesPerSecond))"
        ))
    }
    if result.acceptLatency != nil || result.deliveryLatency != nil {
      rows.append(("Latency, ms", ["p50", "p90", "p99", "p99.9", "max"].map { padded($0) }.joined()))
      if let latency = result.acceptLatency { rows.append(("  to the answer", latencies(latency))) }
      if let latency = result.deliveryLatency { rows.append(("  to the device", latencies(latency))) }
    }
    if let process = result.gatewayProcess { rows += self.process(process, work.kind) }
    rows.append(
      ("Load side", "\(percent(result.loadProcess.cpuShare)) of a core" + (result.isLoadSaturated ? saturated : "")))
    for verdict in report.verdicts where verdict.failed {
      rows.append(("FAILED", "\(verdict.condition): \(verdict.value.map { decimal($0, 2) } ?? "not measured")"))
    }
    let width = rows.map { $0.0.count }.max() ?? 0
    return rows.map { name, text in
      name + String(repeating: " ", count: width - name.count) + "  " + text
    }
  }

  private static let saturated = ": it was the limit, not the gateway; give it more cores with --loops"

  private static func gateway(_ setting: BenchReport.Setting) -> String {
    var parts = [(setting.isOwn ? "its own at " : "") + setting.gateway]
    if let durability = setting.durability { parts.append("durability \(durability)") }
    if let storage = setting.storage {
      parts.append(storage == "tmpfs" ? "on tmpfs, where a sync costs nothing" : "on \(storage)")
    }
    if let cores = setting.cores {
      func list(_ cores: [Int]) -> String {
        (cores.count == 1 ? "core " : "cores ") + cores.map(String.init).joined(separator: ",")
      }
      parts.append("pinned: gateway to \(list(cores.gateway)), load to \(list(cores.load))")
    } else {
      parts.append("not pinned")
    }
    return parts.joined(separator: "; ")
  }

  private static func workloadText(_ work: BenchReport.Workload) -> String {
    var parts = ["\(grouped(work.devices)) device\(work.devices == 1 ? "" : "s")"]
    if work.offlinePercent > 0 { parts.append("\(decimal(work.offlinePercent, 1)) % offline") }
    if work.slowPercent > 0 { parts.append("\(decimal(work.slowPercent, 1)) % slow") }
    guard work.kind != "idle" else { return parts.joined(separator: ", ") + ", idle" }
    parts.append("\(work.providers) provider\(work.providers == 1 ? "" : "s") × \(work.streams) streams")
    parts.append("\(work.payloadBytes) bytes")
    parts.append(work.rate == "max" ? "flat out" : work.rate + "/s")
    if work.expiration == 0 { parts.append("never stored") }
    if work.kind == "accept" { parts.append("answers only") }
    return parts.joined(separator: ", ")
  }

  private static func trouble(_ pushes: LoadResult.Pushes) -> String {
    var parts: [String] = []
    if pushes.refused > 0 {
      let reasons = pushes.refusals.sorted { $0.key < $1.key }.map { "\(grouped($0.value)) × \($0.key)" }
      parts.append("refused \(grouped(pushes.refused)) (\(reasons.joined(separator: ", ")))")
    }
    if pushes.unanswered > 0 { parts.append("unanswered \(grouped(pushes.unanswered))") }
    if pushes.unsent > 0 { parts.append("not sent in time \(grouped(pushes.unsent))") }
    if pushes.retried > 0 { parts.append("sent again \(grouped(pushes.retried))") }
    return parts.isEmpty ? "" : "   " + parts.joined(separator: ", ")
  }

  private static func process(_ process: LoadResult.Process, _ kind: String) -> [(String, String)] {
    var cpu = "\(percent(process.cpuShare)) of a core"
    if let each = process.cpuSecondsPer100000 { cpu += ", \(decimal(each, 2)) s per 100,000 pushes" }
    var memory = "\(mebibytes(process.residentBytesAtEnd)) at the end"
    if let each = process.residentBytesPerIdleStream { memory += ", \(grouped(each)) bytes for each idle stream" }
    let rows = [("Gateway CPU", cpu), ("Gateway memory", memory)]
    return kind == "idle" ? [rows[1]] : rows
  }

  private static func latencies(_ latency: LatencySummary) -> String {
    [latency.p50, latency.p90, latency.p99, latency.p999, latency.max].map { padded(decimal($0, 2)) }.joined()
  }

  private static func padded(_ text: String) -> String {
    String(repeating: " ", count: Swift.max(0, 9 - text.count)) + text
  }

  private static func rate(_ value: Double) -> String { grouped(Int(value.rounded())) + "/s" }
  private static func percent(_ share: Double) -> String { "\(Int((share * 100).rounded())) %" }
  private static func mebibytes(_ bytes: Int) -> String { "\(decimal(Double(bytes) / 1_048_576, 1)) MiB" }

  static func decimal(_ value: Double, _ digits: Int) -> String { String(format: "%.\(digits)f", value) }

  /// Formats a number with commas between its thousands.
  static func grouped(_ value: Int) -> String {
    var text = ""
    for (place, digit) in String(abs(value)).reversed().enumerated() {
      if place > 0, place.isMultiple(of: 3) { text.append(",") }
      text.append(digit)
    }
    return (value < 0 ? "-" : "") + String(text.reversed())
  }
}
