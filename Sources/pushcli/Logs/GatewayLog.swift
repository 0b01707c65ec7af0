import Foundation
import Glibc
import Logging
import PushCore
import PushGateway

/// The log of `pushcli serve`: the destination and the format of swift-log's events.
struct GatewayLog: LogHandler {
  private let threshold: LogThreshold
  private let writer: LogWriter

  var metadata: Logger.Metadata = [:]
  var metadataProvider: Logger.MetadataProvider?

  /// The level of the process; a logger does not have its own.
  var logLevel: Logger.Level {
    get { threshold.level }
    set { threshold.ask(for: newValue) }
  }

  init(threshold: LogThreshold, writer: LogWriter) { (self.threshold, self.writer) = (threshold, writer) }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: Logging.LogEvent) {
    let own = event.metadata ?? [:]
    let all = metadata.isEmpty ? own : metadata.merging(own) { $1 }
    writer.write(LogEntry(at: WallClock.system.milliseconds(), event, all))
  }
}

extension LogWriter {
  /// Writes to standard error or to the journal, according to the setting and to systemd.
  convenience init(_ format: LogFormat, environment: [String: String]) {
    var status = stat()
    let stream =
      unsafe fstat(STDERR_FILENO, &status) == 0 ? (device: UInt64(status.st_dev), inode: UInt64(status.st_ino)) : nil
    let output: @Sendable (LogEntry) -> Void
    switch format.resolved(journal: environment["JOURNAL_STREAM"], stream: stream) {
    case .json: output = { Output.log($0.json) }
    case .journald:
      let journal = JournalSocket()
      // Without a journal, the line goes to standard error.
      output = { if !journal.send($0.journal) { Output.log($0.logfmt) } }
    case .auto, .logfmt: output = { Output.log($0.logfmt) }
    }
    self.init(now: { WallClock.system.milliseconds() }, output: output)
  }
}
