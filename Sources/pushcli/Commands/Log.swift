import ArgumentParser
import Foundation
import GatewayProtocol
import PushCore

/// `pushcli log`: the delivery events of pushes.
struct Log: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "The delivery log: the events of each push, and which rule decided.",
    discussion: """
      Examples:
        pushcli log 7F1C6E0A-8A4B-4C1D-9E55-0B7C7A1B2C3D
        pushcli log --device me --since 10m --event dropped,expired
        pushcli log --follow --json

      In JSON, detail is what the words say and details the same in facts: asked, removed, rule, fact and so on.
      """)

  @Argument(help: "An apns-id, or the apns-unique-id of a 200. (all)") var id: String?
  @Option(help: "The device's name.") var device: String?
  @Option(help: "The app's topic.") var app: String?
  @Option(help: "Only these events, with commas between them: accepted, dropped, …") var event: String?
  @Option(help: "How far back: 30s, 10m, 2h or 7d.") var since: String?
  @Option(help: "At most this many of the newest rows.") var limit = 1000
  @Flag(help: "Go on printing as things happen.") var follow = false
  @OptionGroup var state: StateOptions
  @OptionGroup var format: FormatOptions

  func validate() throws { try OptionRange.check(limit, "--limit", 1...1_000_000_000) }

  func run() async throws {
    let since = try since.map { try TimeSpan($0, option: "--since", requiresUnit: true) }
    let admin = try await Admin(state)
    var last: Int64 = 0
    repeat {
      var query = ["limit=\(limit)", "after=\(last)"]
      if let id { query.append("id=\(pathPart(id))") }
      if let device { query.append("device=\(pathPart(device))") }
      if let app { query.append("app=\(pathPart(app))") }
      if let event { query.append("event=\(pathPart(event))") }
      if let since { query.append("since=\(since.before(Date()))") }
      let records: [LogRecord] = try await admin.get("/admin/v1/log?" + query.joined(separator: "&"))
      records.forEach(print)
      last = records.last?.number ?? last
      if follow { try await Task.sleep(for: .milliseconds(250)) }
    } while follow
  }

  private func print(_ record: LogRecord) {
    if format.json { return Output.json(record) }
    let place = [record.device, record.topic].compactMap { $0 }.joined(separator: "/")
    let event = record.event + String(repeating: " ", count: max(0, 12 - record.event.count))
    var words = [record.at, event, record.id, place, record.detail ?? ""]
    if let status = record.status { words.append("[\(status)]") }
    Output.data(words.filter { !$0.isEmpty }.joined(separator: "  "))
  }
}
