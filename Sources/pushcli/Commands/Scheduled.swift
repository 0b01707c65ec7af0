import ArgumentParser
import Foundation
import GatewayProtocol
import PushCore

/// `pushcli scheduled`: pushes that are delivered later.
struct Scheduled: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "scheduled", abstract: "Scheduled pushes: list or cancel them.",
    discussion: """
      Examples:
        pushcli scheduled
        pushcli scheduled cancel 7F1C6E0A-8A4B-4C1D-9E55-0B7C7A1B2C3D
      """,
    subcommands: [List.self, Cancel.self], defaultSubcommand: List.self)

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list", abstract: "List scheduled pushes, the earliest first.",
      discussion: """
        Texts are not shown: they are for the device. Times are in this machine's time zone, and in UTC in JSON and \
        with --utc.

        Example:
          pushcli scheduled list --device me
        """)
    @Option(help: "The device's name.") var device: String?
    @Option(help: "The app's topic.") var app: String?
    @Flag(help: "Show times in UTC.") var utc = false
    @OptionGroup var options: AdminOptions

    func run() async throws {
      let admin = try await options.admin
      if let device { let _: DeviceRecord = try await admin.get(AdminPath.device(device)) }
      if let app { _ = try await AppRow.named(app, admin) }
      var (after, rows): (String, [[String]]) = ("", [])
      while true {
        let page: [ScheduledRecord] = try await admin.get(
          AdminPath.scheduled() + "?limit=\(Limits.maximumListPage)" + after)
        let records = page.filter { record in
          (device.map { $0 == record.device } ?? true) && (app.map { $0 == record.topic } ?? true)
        }
        if options.json {
          Output.json(lines: records)
        } else {
          rows += records.map { record in
            [utc ? record.at : Timestamp.local(record.at), record.device ?? "-", record.topic ?? "-", record.id]
          }
        }
        guard page.count == Limits.maximumListPage, let last = page.last else { break }
        after = "&after=\(last.place)"
      }
      if !options.json { Output.table(["AT", "DEVICE", "TOPIC", "ID"], rows) }
    }
  }

  struct Cancel: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "cancel", abstract: "Cancel a scheduled push.",
      discussion: """
        The push is not delivered, and the delivery log has its cancellation. The exit \
        code is 3 if the push is unknown or its delivery has begun.

        Example:
          pushcli scheduled cancel 7F1C6E0A-8A4B-4C1D-9E55-0B7C7A1B2C3D
        """)
    @Argument(help: "The apns-id.") var id: String
    @OptionGroup var options: AdminOptions

    func run() async throws {
      do {
        try await options.admin.delete(AdminPath.scheduledPush(id))
      } catch let failure as CommandFailure where failure.status == 404 {
        throw CommandFailure(.suppressed, failure.message)
      } catch let failure as CommandFailure where failure.status == 400 {
        throw CommandFailure(.usage, failure.message)
      }
      options.print(["cancelled": id], words: "cancelled \(id)")
    }
  }
}
