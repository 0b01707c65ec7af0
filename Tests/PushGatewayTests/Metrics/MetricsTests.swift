import NIOCore
import PushTesting
import Testing

@testable import GatewayClient
@testable import GatewayProtocol
@testable import HTTP2Transport
@testable import PushCore
@testable import PushGateway
@testable import PushStorage

/// The list of metrics, and the counting of events of a gateway.
@Suite(.timeLimit(.minutes(5))) struct MetricsTests {
  /// Returns the lines of a gateway's metrics by name and labels.
  func read(_ gateway: TestGateway) async throws -> [Substring: Substring] {
    let answer = try await gateway.client().request(
      "GET", "/admin/v1/metrics", [(.accept, "application/openmetrics-text")])
    #expect(answer.status == 200)
    #expect(String(decoding: answer.body, as: UTF8.self).hasSuffix("\n# EOF\n"))
    var values: [Substring: Substring] = [:]
    for line in String(decoding: answer.body, as: UTF8.self).split(separator: "\n") where !line.hasPrefix("#") {
      let words = line.split(separator: " ")
      #expect(words.count == 2)
      #expect(values.updateValue(words[1], forKey: words[0]) == nil, "\(words[0]) is there twice")
    }
    return values
  }

  @Test(arguments: ["/metrics", "/admin/v1/metrics"])
  func `the admin socket has the format that is asked for, as HTTP has`(_ path: String) async throws {
    try await TestGateway.run { gateway in
      let client = try await gateway.client()
      for (accept, isOpen) in [(nil, false), ("*/*", false), ("application/openmetrics-text;version=1.0.0", true)] {
        let answer = try await client.request("GET", path, accept.map { [(.accept, $0)] } ?? [])
        #expect(String(decoding: answer.body, as: UTF8.self).hasSuffix("\n# EOF\n") == isOpen)
      }
    }
  }

  @Test func `names are unique and as OpenMetrics has them`() {
    #expect(Set(Metric.all.map(\.name)).count == Metric.all.count)
    for metric in Metric.all {
      let isOurs = metric.name.hasPrefix("pushgateway_")
      // The metrics of a process have the usual names without our prefix.
      #expect(isOurs || metric.name.hasPrefix("process_"), "\(metric.name)")
      #expect(metric.name.utf8.allSatisfy { (0x61...0x7A).contains($0) || $0 == UInt8(ascii: "_") }, "\(metric.name)")
      #expect(!metric.name.hasSuffix("_total"))
      #expect(metric.unit.isEmpty || metric.name.hasSuffix("_" + metric.unit), "\(metric.name)")
      #expect(metric.help.hasSuffix("."))
    }
  }

  @Test func `a label has only the values that the list names`() async throws {
    try await TestGateway.run { gateway in
      for metric in Metric.all {
        let samples = metric.read(gateway.meters)
        // The gateway of this test has no certificates.
        if metric.name.hasPrefix("pushgateway_certificate") { continue }
        #expect(!samples.isEmpty, "\(metric.name)")
        #expect(Set(samples.map(\.label)).count == samples.count)
        // The number of a loop is the only label value that is not in the list.
        let values = metric.label.map { $0.values ?? ["0"] }
        #expect(samples.map(\.label) == (values ?? [nil]), "\(metric.name)")
      }
    }
  }

  @Test func `pushes are counted by what became of them`() async throws {
    try await TestGateway.run { gateway in
      let device = try await gateway.enroll()
      let client = try await gateway.client()
      #expect(try await gateway.push(client, to: device.token, [(.apnsID, SampleRequest.id)]).status == 200)
      #expect(try await gateway.push(client, to: device.token, [(.apnsID, SampleRequest.id)]).status == 200)
      #expect(try await gateway.push(client, to: device.token, [(.apnsExpiration, "0")]).status == 200)
      #expect(try await gateway.push(client, to: "00").status == 400)
      let values = try await read(gateway)
      #expect(values[#"pushgateway_requests_accepted_total{as="stored"}"#] == "1")
      #expect(values[#"pushgateway_requests_accepted_total{as="duplicate"}"#] == "1")
      #expect(values[#"pushgateway_requests_accepted_total{as="unstored"}"#] == "1")
      #expect(values[#"pushgateway_requests_accepted_total{as="broadcast"}"#] == "0")
      #expect(values[#"pushgateway_requests_refused_total{reason="BadDeviceToken"}"#] == "1")
      #expect(values[#"pushgateway_requests_refused_total{reason="Shutdown"}"#] == "0")
      #expect(values["pushgateway_commit_pushes_sum"].flatMap { Double($0) } == 1)
      #expect(values["pushgateway_commits_failed_total"] == "0")
      #expect((values[#"pushgateway_connections{peer="admin_socket"}"#].flatMap { Int($0) } ?? 0) > 0)
    }
  }

  @Test func `a stored push is counted at each step of its way`() async throws {
    try await TestGateway.run { gateway in
      let device = try await gateway.enroll()
      let client = try await gateway.client()
      let stream = try await TestStream.caughtUp(client, device)
      #expect(try await gateway.push(client, to: device.token).status == 200)
      let push = try #require(try await stream.next())
      stream.acknowledge(push.seq)
      let id = try #require(APNSID(push.json["id"] as? String ?? ""))
      while try await !gateway.events(of: id).contains(.acknowledged) {}
      let values = try await read(gateway)
      for event in ["accepted", "stored", "transmitted", "acknowledged"] {
        #expect(values[#"pushgateway_delivery_events_total{event="\#(event)"}"#[...]] == "1", "\(event)")
      }
      // The mailbox thread returned the result of each commit to the loop.
      #expect((values[#"pushgateway_loop_lag_seconds_count{loop="0"}"#].flatMap { Int($0) } ?? 0) > 0)
      #expect((values[#"pushgateway_loop_turn_seconds_count{loop="0"}"#].flatMap { Int($0) } ?? 0) > 0)
      for stage in ["accept_seconds", "transmit_seconds", "acknowledge_seconds"] {
        let label = stage == "transmit_seconds" ? #"{from="live"}"# : ""
        #expect(values["pushgateway_\(stage)_count\(label)"[...]] == "1", "\(stage)")
      }
      #expect(values[#"pushgateway_transmit_seconds_count{from="mailbox"}"#] == "0")
      #expect(values["pushgateway_present_seconds_count"] == "0")
      #expect(values["pushgateway_device_streams"] == "1")
      #expect(values[#"pushgateway_clients{kind="admin"}"#] != "0")
      #expect(values[#"pushgateway_clients{kind="unauthenticated"}"#] != nil)
      stream.send(#"{"type":"presented","id":"\#(id)","parts":["alert"]}"#)
      while try await !gateway.events(of: id).contains(.presented) {}
      #expect(try await read(gateway)["pushgateway_present_seconds_count"] == "1")
    }
  }

  @Test func `what waits for a device is counted, with the age of the oldest`() async throws {
    try await TestGateway.run { gateway in
      let device = try await gateway.enroll()
      let client = try await gateway.client()
      #expect(try await read(gateway)["pushgateway_mailbox_pushes"] == "0")
      #expect(try await gateway.push(client, to: device.token).status == 200)
      gateway.clock.advance(seconds: 60)
      #expect(try await gateway.push(client, to: device.token).status == 200)
      var values = try await read(gateway)
      // The answer to a push is sent before the counter of uncommitted pushes decreases.
      while values["pushgateway_uncommitted_pushes"] != "0" { values = try await read(gateway) }
      #expect(values["pushgateway_mailbox_pushes"] == "2")
      #expect((55...60).contains(values["pushgateway_mailbox_oldest_age_seconds"].flatMap { Double($0) } ?? 0))
      let stream = try await TestStream.open(client, device)
      let last = try #require(try await stream.lines(upTo: "caught-up").last { $0.seq > 0 })
      stream.acknowledge(last.seq)
      while values["pushgateway_mailbox_pushes"] != "0" { values = try await read(gateway) }
      #expect(values["pushgateway_mailbox_oldest_age_seconds"] == "0.0")
      #expect(values[#"pushgateway_transmit_seconds_count{from="mailbox"}"#] == "2")
    }
  }

  @Test func `what the policy does is counted by the rule`() async throws {
    try await TestGateway.run { gateway in
      let device = try await gateway.enroll()
      let client = try await gateway.client()
      #expect(try await gateway.push(client, to: device.token, payload: #"{"aps":{"badge":-1}}"#).status == 403)
      let stream = try await TestStream.caughtUp(client, device, silent: true)
      let loud = #"{"aps":{"alert":"Platform 4","sound":"default"}}"#
      #expect(try await gateway.push(client, to: device.token, payload: loud).status == 200)
      _ = try await stream.lines(upTo: "push")
      let values = try await read(gateway)
      #expect(values[#"pushgateway_policy_refused_total{rule="B1"}"#] == "1")
      #expect(values[#"pushgateway_policy_reported_total{rule="B1"}"#] == "0")
      #expect(values[#"pushgateway_policy_refused_total{rule="S1"}"#] == "0")
      #expect(values[#"pushgateway_policy_removed_total{rule="S4"}"#] == "1")
    }
  }

  @Test func `limits that were reached are counted`() async throws {
    try await TestGateway.run(rateLimit: 1) { gateway in
      let device = try await gateway.enroll()
      let client = try await gateway.client()
      #expect(try await gateway.push(client, to: device.token).status == 200)
      #expect(try await gateway.push(client, to: device.token).status == 429)
      let body = [UInt8](repeating: UInt8(ascii: " "), count: Limits.maximumControlBodySize + 1)
      #expect(try await client.request("POST", "/admin/v1/teams", body: body).status == 413)
      let stream = try await TestStream.open(client, device)
      // A line in several frames: its end has not arrived when the line is found too long.
      stream.send(String(repeating: "x", count: 3 * Limits.maximumLineSize))
      #expect(try await stream.lines(upTo: "bye").last?.json["reason"] as? String == "line-too-long")
      let values = try await read(gateway)
      for limit in ReachedLimit.allCases {
        let isReached = [.rate, .bodySize, .lineSize].contains(limit)
        #expect(
          values[#"pushgateway_limits_reached_total{limit="\#(limit.label)"}"#[...]] == (isReached ? "1" : "0"),
          "\(limit)")
      }
    }
  }

  @Test func `docs-metrics has a row for each`() throws {
    let rows = Metric.all.map { metric in
      let label = metric.label.map { "`\($0.name)`" } ?? ""
      return "| `\(metric.name)` | \(metric.kind) | \(metric.unit) | \(label) | \(metric.help) |"
    }
    try DocumentedTable(page: "reference/metrics.md", header: "| metric | kind | unit | label | what it says |").expect(
      rows)
    let limits = ReachedLimit.allCases.map { "| `\($0.label)` | \($0.words) |" }
    try DocumentedTable(page: "reference/metrics.md", header: "| limit | when it was reached |").expect(limits)
    let bounds = TransportLimit.allCases.map { "| `\($0.rawValue)` | \($0.words) |" }
    try DocumentedTable(page: "reference/metrics.md", header: "| limit | what it bounds |").expect(bounds)
  }
}
