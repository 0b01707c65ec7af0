import ArgumentParser
import Foundation
import GatewayClient
import GatewayProtocol
import PushCore

/// `pushcli log`: the delivery events of pushes.
struct Log: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "log", abstract: "Search the delivery log: the events of each push, and the rules that decided.",
    discussion: """
      Examples:
        pushcli log 7F1C6E0A-8A4B-4C1D-9E55-0B7C7A1B2C3D
        pushcli log --device me --since 10m --event dropped,expired
        pushcli log --follow --json
        pushcli log --since 7d --limit 100000000 --json > week.ndjson
        pushcli log --text "platform 4"

      Times are in this machine's time zone, and in UTC in JSON and with --utc. --follow begins with the last ten rows.

      --text finds pushes by their texts. It includes the devices that were enrolled from this state folder, unless their \
      user chose log-text=off, and the devices of users who chose log-text=senders. It prints the row of the delivery; \
      `pushcli log ID` prints the other rows of the push.

      In a cluster the rows of all gateways are merged by time, and each row names its gateway. A gateway that does not \
      answer is named on standard error.

      In JSON, detail has the text of a row, and details has the same as members: asked, removed, rule, fact and so on.
      """)

  @Argument(help: "An apns-id, or the apns-unique-id of a 200. (all)") var id: String?
  @Option(help: "The device's name.", completion: CompletionCandidates.devices) var device: String?
  @Option(help: "The app's topic.", completion: CompletionCandidates.apps) var app: String?
  @Option(
    help: "Only these events, comma-separated: accepted, dropped, …", completion: CompletionCandidates.events)
  var event: String?
  @Option(help: "How far back: 30s, 10m, 2h or 7d.") var since: String?
  @Option(help: "Only pushes with this in the title or the texts, in any case.") var text: String?
  @Option(help: "At most this many of the newest rows; any number is read page by page. (1000; 10 with --follow)")
  var limit: Int?
  @Flag(help: "Show times in UTC.") var utc = false
  @Flag(help: "Also print later rows as they are logged.") var follow = false
  @OptionGroup var options: AdminOptions

  func validate() throws {
    try OptionValue.check(maximumCount, "--limit", 1...1_000_000_000)
    if text?.isEmpty == true { throw ValidationError("--text is empty: expected a part of a title or a text") }
    if text != nil, follow { throw ValidationError("--text is for logged rows, and --follow for later ones: give one") }
  }

  private var maximumCount: Int { limit ?? (follow ? 10 : 1000) }

  func run() async throws {
    let since = try since.map { try TimeSpan($0, option: "--since", requiresUnit: true) }
    let (admin, path) = try await LogPath.connect(options.state, for: device)
    var query: [String] = []
    if let id { query.append("id=\(pathPart(id))") }
    if let device, path.isAdministered { query.append("device=\(pathPart(device))") }
    if let app { query.append("app=\(pathPart(app))") }
    if let event { query.append("event=\(pathPart(event))") }
    if let since { query.append("since=\(since.before(Date()))") }
    if let text { return try await printRows(holding: text, query, admin, path) }
    var unanswered = UnansweredGateways()
    var (last, after): (LogRecord?, String)
    if maximumCount <= Limits.maximumLogPage || id != nil {
      (last, after) = try await printNewest(query, admin, path, &unanswered)
    } else {
      (last, after) = try await printPages(query, admin, path, &unanswered)
    }
    guard follow else {
      if let id, last == nil {
        Output.words("no rows of \(id): its sender uses another gateway, or its rows are older than the delivery log")
      }
      return
    }
    if let id, let last, last.id.lowercased() != id.lowercased() {
      // The given ID was the unique ID, which only one row has.
      query[0] = "id=\(pathPart(last.id))"
      if device == nil, path.isAdministered, let device = last.device { query.append("device=\(pathPart(device))") }
    }
    if since == nil, last?.gateway != nil {
      // A gateway that has not answered yet later sends only its rows since this time, not its whole log.
      query.append("since=\(Int64((Date().timeIntervalSince1970 - Log.followedTime) * 1000))")
    }
    while true {
      let (page, isRefused) = try await LogPath.next { waits in
        try await self.page(query, after: after, seconds: waits ? Limits.maximumLogWaitTime / 2 : 0, admin, path)
      }
      unanswered.report(page.unanswered)
      page.rows.forEach(print)
      after = page.after
      if isRefused, page.rows.isEmpty { try await Task.sleep(for: Log.refusedPause) }
    }
  }

  /// The time in seconds before now from which a gateway of a cluster sends late rows while the log is followed.
  private static let followedTime = 600.0
  /// The pause before the next waiting request, after one was refused and no rows were printed.
  private static let refusedPause = Duration.seconds(1)

  /// Prints the rows of pushes by their texts. Each device of this state folder searches its own rows; the admin socket
  /// searches those of users who permit it to senders.
  private func printRows(holding text: String, _ query: [String], _ admin: Admin, _ path: LogPath) async throws {
    let count = min(maximumCount, Limits.maximumLogPage)
    let values = (query + ["text=\(pathPart(text))", "limit=\(count)"]).joined(separator: "&")
    var unanswered = UnansweredGateways()
    // By the identity of a row among all gateways of a cluster.
    var found: [String: LogRecord] = [:]
    func add(_ answer: LogRows) {
      unanswered.report(answer.cluster?.unanswered)
      for row in answer.rows { found["\(row.number) \(row.gateway ?? "")"] = row }
    }
    add(try await admin.get(path.path + "?" + values))
    let folder = try options.state.folder
    for name in Credentials.names(in: folder) where path.isAdministered && (device == nil || device == name) {
      guard let credentials = try Credentials.read(name, in: folder) else { continue }
      do {
        add(try await admin.get("/v1/device/log?" + values, secret: credentials.secret))
      } catch let failure as CommandFailure where failure.status == 401 {
        // The gateway no longer has the device.
      }
    }
    // The numbers of different gateways do not determine the order of rows.
    found.values.sorted { $0.gateway == $1.gateway ? $0.number < $1.number : $0.at < $1.at }
      .suffix(count).forEach(print)
  }

  /// Prints the newest rows that one answer can hold, or the rows of one push.
  ///
  /// - Returns: the last row, and the position after which later rows follow.
  private func printNewest(
    _ query: [String], _ admin: Admin, _ path: LogPath, _ unanswered: inout UnansweredGateways
  ) async throws -> (last: LogRecord?, after: String) {
    let (rows, after) = try await path.newest(query, atMost: maximumCount, admin, &unanswered)
    rows.forEach(print)
    return (rows.last, after ?? "0")
  }

  /// Prints any number of rows, page by page, so that neither side holds more than one page.
  private func printPages(
    _ query: [String], _ admin: Admin, _ path: LogPath, _ unanswered: inout UnansweredGateways
  ) async throws -> (last: LogRecord?, after: String) {
    var (left, after, before) = (maximumCount, "", "")
    // Finds the first page, so that the oldest rows are printed first.
    while left > 0 {
      let size = min(left, Limits.maximumLogPage)
      let start: LogStart = try await admin.get(
        path.path + "/start?" + (query + ["limit=\(size)"]).joined(separator: "&") + before)
      unanswered.report(start.unanswered)
      let isBeginning = start.before == nil || start.firstAfter == after
      after = start.firstAfter
      if isBeginning { break }
      before = "&before=\(pathPart(start.before ?? ""))"
      left -= size
    }
    var last: LogRecord?
    left = maximumCount
    while left > 0 {
      let page = try await self.page(
        query, after: after, seconds: 0, size: min(left, Limits.maximumLogPage), admin, path)
      unanswered.report(page.unanswered)
      page.rows.forEach(print)
      last = page.rows.last ?? last
      left -= page.rows.count
      if page.rows.isEmpty || page.after == after { break }
      after = page.after
    }
    return (last, after)
  }

  private func page(
    _ query: [String], after: String, seconds: Int, size: Int = 1000, _ admin: Admin, _ path: LogPath
  ) async throws -> LogPage {
    let values = query + ["after=\(pathPart(after))", "seconds=\(seconds)", "limit=\(size)"]
    return try await admin.get(path.path + "/next?" + values.joined(separator: "&"))
  }

  private func print(_ record: LogRecord) {
    if options.json { return Output.json(record) }
    let place = [record.device, record.topic].compactMap { $0 }.joined(separator: "/")
    let event = record.event + String(repeating: " ", count: max(0, 12 - record.event.count))
    let time = utc ? record.at : Timestamp.local(record.at)
    var words = [time, event, record.id, place, record.detail ?? ""]
    if let text = record.text { words.append(Log.quoted(text)) }
    if let status = record.status { words.append("[\(status)]") }
    if let gateway = record.gateway { words.append("at \(gateway)") }
    Output.data(words.filter { !$0.isEmpty }.joined(separator: "  "))
  }

  /// Joins a title and texts on one line; empty texts are left out.
  static func quoted(_ text: String) -> String {
    let lines = text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    return lines.isEmpty ? "" : "“\(lines.joined(separator: " – "))”"
  }
}
