import ArgumentParser
import Foundation
import GatewayProtocol
import PushCore
import PushStorage

/// `pushcli admin`: backup, restore, reload, restart, audit trail, remote access and log level of a gateway.
struct AdminCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "admin",
    abstract: "Back up, restore, reload and restart a gateway; audit trail, log level, access tokens.",
    discussion: """
      Examples:
        pushcli admin backup /var/backups/push.backup
        pushcli admin restore /var/backups/push.backup --state ./push
        pushcli admin reload
        pushcli admin restart
        pushcli admin audit --limit 20
        pushcli admin log-level debug --for 10m
        pushcli admin tokens create ci --role operator
      """,
    subcommands: [
      AdminBackup.self, AdminRestore.self, Compact.self, AdminReload.self, AdminRestart.self, Audit.self,
      AdminLogLevel.self,
      AdminTokens.self,
    ])

  struct Compact: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "compact", abstract: "Return unused database pages to the file system.",
      discussion: """
        A running gateway returns pages automatically, except the space that it will need soon. This command returns \
        all unused pages. A database of an earlier version is rewritten: pushes are answered after the rewrite, which \
        needs free space for a second copy.

        Example:
          pushcli admin compact
        """)
    @OptionGroup var options: AdminOptions

    func run() async throws {
      let sizes: CompactRecord = try await options.admin.post(AdminPath.compact(), [String: String]())
      if options.json { return Output.json(sizes) }
      let words = [sizes.before, sizes.after].map { $0.formatted(.byteCount(style: .file)) }
      Output.words("the database took \(words[0]), and takes \(words[1]) now")
    }
  }

  struct Audit: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "audit", abstract: "Show the audit trail: changes by administrators, with their names.",
      discussion: """
        Every change of teams, keys, apps, devices, users, invitations, channels, certificates and faults is recorded \
        before it is made. WHO is the user of the admin socket, or a token or device with its role; requests that \
        were refused for their role are recorded, too. The newest come last; the gateway keeps \
        \(Limits.maximumAuditRecords).

        Example:
          pushcli admin audit --limit 20
        """)
    @Option(help: "How many, the newest.") var limit = 100
    @OptionGroup var options: AdminOptions

    func validate() throws {
      guard limit > 0 else { throw ValidationError("--limit is a number from 1 on, not \(limit)") }
    }

    func run() async throws {
      let admin = try await options.admin
      var records: [AuditRecord] = []
      while records.count < limit {
        let before = records.first.map { "&before=\($0.number)" } ?? ""
        let page: [AuditRecord] = try await admin.get(
          AdminPath.audit() + "?limit=\(min(1_000, limit - records.count))" + before)
        if page.isEmpty { break }
        records = page + records
      }
      options.print(lines: records, ["TIME", "WHO", "STATUS", "METHOD", "PATH", "BODY"]) {
        [$0.at, $0.who ?? "-", $0.status.map(String.init) ?? "-", $0.method, $0.path, $0.body ?? ""]
      }
    }
  }
}
