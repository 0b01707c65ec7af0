import ArgumentParser
import Foundation
import GatewayProtocol
import Logging
import PushCore
import PushGateway
import PushStorage

/// `pushcli admin backup`: saves a gateway, or all data of a cluster.
struct AdminBackup: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup", abstract: "Save a gateway, or its whole cluster, into one file.",
    discussion: """
      The file holds the database as it is between two commits, the certificates and the keys: keep it as safe as the \
      state folder. An existing file is replaced as a whole. The delivery log is not saved. A backup of a cluster \
      holds the state of the whole cluster, with its pending pushes. A running gateway continues; --stopped saves a \
      gateway that no longer accepts pushes, to move it to another machine.

      Examples:
        pushcli admin backup /var/backups/push-$(date +%F).backup
        pushcli admin backup --stopped ./move.backup --state ./push
      """)
  @Argument(help: "The file to write.", completion: .file()) var file: String
  @Flag(help: "From the files of a gateway of this machine that does not run.") var stopped = false
  @OptionGroup var state: StateOptions
  @OptionGroup var cluster: ClusterOptions
  @OptionGroup var format: FormatOptions

  func validate() throws {
    guard stopped || !cluster.isGiven else {
      throw ValidationError("--backend, --nats-creds and --nats-ca need --stopped: a running gateway has its own")
    }
    guard !stopped || state.gateway == nil else {
      throw ValidationError("--stopped is about a state folder of this machine: leave --gateway out")
    }
  }

  func run() async throws {
    let path = URL(fileURLWithPath: file).path
    guard stopped else {
      let summary: Backup.Summary = try await Admin(state).post(AdminPath.backup(), BackupRequest(path: path))
      return Backup.report("saved", summary, format)
    }
    PrivateFile.restrictProcess()
    let folder = try state.local.folder
    let configuration = try Configuration.read(folder, flags: cluster.flags, file: nil)
    do {
      let summary = try await ClusterBackups.save(folder, configuration, to: path, logger: ClusterOptions.logger)
      Backup.report("saved", summary, format)
    } catch {
      throw CommandFailure(.failed, "\(error)")
    }
  }
}

/// `pushcli admin restore`: restores a gateway, or makes a cluster from a backup.
struct AdminRestore: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore", abstract: "Restore a gateway from a backup, into an empty folder.",
    discussion: """
      Pushes that were accepted after the backup was made are not restored. Devices continue \
      automatically: docs/concepts/durability.md describes how. With --backend the backup is restored into a new \
      cluster on brokers that have none; the certificates and keys go into the folder, for its first gateway: \
      docs/cluster/overview.md. The backup of a single gateway can be restored into a cluster, and the backup of a \
      cluster into a single gateway.

      Examples:
        pushcli admin restore push-2026-11-21.backup --state ./push
        pushcli admin restore push-2026-11-21.backup --state ./first \\
          --backend nats://a:4222,b:4222,c:4222
      """)
  @Argument(help: "A file that `pushcli admin backup` made.", completion: .file()) var file: String
  @OptionGroup var state: LocalOptions
  @OptionGroup var cluster: ClusterOptions
  @OptionGroup var new: NewClusterOptions
  @OptionGroup var format: FormatOptions

  func validate() throws {
    guard cluster.backend != nil || !(cluster.isGiven || new.isGiven) else {
      throw ValidationError("the options of a cluster need --backend nats://HOST:PORT, which is not given")
    }
  }

  func run() async throws {
    PrivateFile.restrictProcess()
    let folder = try state.folder
    guard FileManager.default.isReadableFile(atPath: file) else {
      throw CommandFailure(.usage, "\(file) can't be read: \(UnreadableFile.reason(of: file))")
    }
    var configuration: Configuration?
    if cluster.backend != nil {
      configuration = try Configuration.read(
        folder, flags: cluster.flags.merging(new.flags) { one, _ in one }, file: nil)
    }
    do {
      guard let configuration else {
        return Backup.report("restored \(folder.path) from", try Backup.restore(file, into: folder), format)
      }
      let summary = try await ClusterBackups.restore(file, into: folder, configuration, logger: ClusterOptions.logger)
      Backup.report("restored a new cluster from", summary, format)
    } catch {
      throw CommandFailure(.failed, "\(error)")
    }
  }
}

/// The options for a cluster's brokers, with the same names as for `serve`.
struct ClusterOptions: ParsableArguments {
  @Option(help: "The cluster's brokers: nats://HOST:PORT, comma-separated.") var backend: String?
  @Option(help: "The credentials file for the brokers.", completion: .file()) var natsCreds: String?
  @Option(help: "The CA of brokers with tls://, a PEM file.", completion: .file()) var natsCa: String?

  var isGiven: Bool { !flags.isEmpty }

  /// The options as settings.
  var flags: [String: String] {
    ["backend": backend, "nats_creds": natsCreds, "nats_ca": natsCa].compactMapValues(\.self)
  }

  /// A logger without output: the command reports the progress.
  static var logger: Logger { Logger(label: "pushcli") { _ in SwiftLogNoOpLogHandler() } }
}

/// The options for a new cluster, with the same names as for `serve`.
struct NewClusterOptions: ParsableArguments {
  @Option(help: "Number of streams for the mailboxes of the cluster. (16)") var cellPartitions: String?
  @Option(help: "How many brokers keep each stream. (3)") var cellReplicas: String?

  var isGiven: Bool { !flags.isEmpty }

  /// The options as settings.
  var flags: [String: String] {
    ["cell_partitions": cellPartitions, "cell_replicas": cellReplicas].compactMapValues(\.self)
  }
}

extension Backup {
  fileprivate static func report(_ verb: String, _ summary: Summary, _ format: FormatOptions) {
    format.print(
      summary,
      words: "\(verb) \(summary.path): \(counted(summary.devices, "device")), "
        + "\(counted(summary.waiting, "waiting push", "waiting pushes")), \(counted(summary.files, "file"))")
  }
}
