import Foundation
import Testing

@testable import PushGateway

extension Metric {
  /// The names of all its samples.
  fileprivate var sampleNames: [String] {
    kind == .histogram ? ["_bucket", "_count", "_sum"].map { name + $0 } : [sampleName]
  }
}

/// The metrics in the alerts and the dashboard of `deploy/` exist.
@Suite struct DeployedRulesTests {
  static let folder = URL(filePath: #filePath).appending(path: "../../../../deploy").standardized

  @Test(arguments: ["prometheus/alerts.yaml", "prometheus/alerts-test.yaml", "grafana/pushgateway.json"])
  func `every name of a metric is one of the list`(_ file: String) throws {
    let text = try String(contentsOf: DeployedRulesTests.folder.appending(path: file), encoding: .utf8)
    let known = Set(Metric.all.flatMap { [$0.name] + $0.sampleNames })
    let named = text.matches(of: /\b(?:pushgateway|process)_[a-z_]+/).map { String($0.output) }
    #expect(named.count > 10)
    for name in Set(named).subtracting(known) {
      Issue.record("\(file) asks for \(name), which there is not")
    }
  }

  @Test func `every alert says what it is and what to do`() throws {
    let path = DeployedRulesTests.folder.appending(path: "prometheus/alerts.yaml")
    let rules = try String(contentsOf: path, encoding: .utf8).components(separatedBy: "- alert: ").dropFirst()
    #expect(rules.count > 5)
    for rule in rules {
      for field in ["expr: ", "severity: ", "summary: ", "runbook: "] { #expect(rule.contains(field), "\(rule)") }
    }
  }

  @Test func `no panel of the dashboard is without a question, and none has the number of another`() throws {
    struct Dashboard: Decodable {
      struct Panel: Decodable {
        struct Target: Decodable { var expr: String }
        var id: Int
        var type: String
        var title: String
        var description: String?
        var targets: [Target]?
      }
      var panels: [Panel]
    }
    let data = try Data(contentsOf: DeployedRulesTests.folder.appending(path: "grafana/pushgateway.json"))
    let panels = try JSONDecoder().decode(Dashboard.self, from: data).panels
    #expect(Set(panels.map(\.id)).count == panels.count)
    for panel in panels where panel.type != "row" {
      #expect(panel.targets?.isEmpty == false && panel.description?.isEmpty == false, "\(panel.title)")
    }
    // Every metric with few exceptions is used in a panel or an alert.
    let expressions = panels.flatMap { $0.targets ?? [] }.map(\.expr).joined(separator: "\n")
    let unseen: Set = [
      "process_virtual_memory_bytes", "process_threads", "process_start_time_seconds", "pushgateway_build",
    ]
    for metric in Metric.all where !unseen.contains(metric.name) {
      #expect(metric.sampleNames.contains { expressions.contains($0) }, "\(metric.name) is in no panel")
    }
  }
}
