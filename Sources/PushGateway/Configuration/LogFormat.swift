/// The format of a gateway's log (`log_format`).
package enum LogFormat: String, Sendable, CaseIterable {
  /// journald's fields if systemd has connected standard error to the journal, else logfmt.
  case auto
  /// `name=value` pairs, one event per line.
  case logfmt
  /// One JSON object per line.
  case json
  /// journald's native protocol.
  case journald

  /// Returns the format of `auto` for a process.
  ///
  /// - Parameters:
  ///   - journal: `$JOURNAL_STREAM`, in which systemd names the stream that it has connected to the journal.
  ///   - stream: the device and the inode of standard error; nil if it is closed.
  package func resolved(journal: String?, stream: (device: UInt64, inode: UInt64)?) -> LogFormat {
    guard self == .auto else { return self }
    guard let journal, let stream, journal == "\(stream.device):\(stream.inode)" else { return .logfmt }
    return .journald
  }
}
