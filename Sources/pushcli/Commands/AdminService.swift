import ArgumentParser
import GatewayProtocol

/// `pushcli admin reload`: the same as SIGHUP, with an answer.
struct AdminReload: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "reload", abstract: "Reload a gateway's settings and certificates.",
    discussion: """
      Settings that can change while connections are open take effect at once, and no connection ends; `pushcli serve \
      --check` lists them. Other settings take effect at a restart. When a setting, a certificate or an address is \
      invalid, the gateway keeps all present ones. SIGHUP does the same, and its result is in the log.

      Example:
        pushcli admin reload
      """)
  @OptionGroup var options: AdminOptions

  func run() async throws {
    let record: ReloadRecord = try await options.admin.post(AdminPath.reload(), [String: String]())
    if options.json { return Output.json(record) }
    Output.words(
      record.changed.isEmpty
        ? "no setting has changed; the certificates were read again"
        : "changed: \(record.changed.joined(separator: ", "))")
    if !record.waiting.isEmpty {
      Output.words("at a restart: \(record.waiting.joined(separator: ", ")) (`pushcli admin restart`)")
    }
  }
}

/// `pushcli admin restart`: the same as SIGUSR2, with an answer.
struct AdminRestart: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "restart", abstract: "Restart the gateway with the installed binary; no connection is refused.",
    discussion: """
      The process and its listening sockets stay: new connections wait, and none is refused. Open requests are \
      answered first, within two seconds; devices reconnect automatically. When the new binary or the settings would \
      not start, the running gateway stays as it is. SIGUSR2 does the same.

      Example:
        pushcli admin restart
      """)
  @OptionGroup var options: AdminOptions

  /// The maximum time until the next program answers.
  private static let waitTime = Duration.seconds(30)
  private static let pause = Duration.milliseconds(20)

  func run() async throws {
    let before: GatewayStatus = try await options.admin.get(AdminPath.status())
    let begin = ContinuousClock.now
    try await options.admin.post(AdminPath.restart())
    try await waitForNext(after: before, until: begin + AdminRestart.waitTime)
    let seconds = (begin.duration(to: .now) / .milliseconds(10)).rounded() / 100
    options.print(["seconds": seconds], words: "started again; it answers after \(seconds) seconds")
  }

  /// Repeats the request until a process with another start time than `before` answers. The socket is the same, so that
  /// a request waits until the next program accepts it.
  private func waitForNext(after before: GatewayStatus, until deadline: ContinuousClock.Instant) async throws {
    while ContinuousClock.now < deadline {
      if let status = try? await options.admin.get(AdminPath.status()) as GatewayStatus,
        status.started != before.started
      {
        return
      }
      try await Task.sleep(for: AdminRestart.pause)
    }
    throw CommandFailure(.timedOut, "the gateway does not answer yet: its log has the cause")
  }
}
