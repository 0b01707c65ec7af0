/// How a gateway writes its log (`log_format`).
package enum LogFormat: String, Sendable, CaseIterable {
  /// journald's fields where systemd has connected standard error to the journal, else logfmt.
  case auto
  /// `name=value` pairs, a line each.
  case logfmt
  /// A JSON object a line.
  case json
  /// journald's own protocol.
  case journald

  /// What `auto` means for a process.
  ///
  /// - Parameters:
  ///   - journal: `$JOURNAL_STREAM`, by which systemd says which stream it has connected to the journal.
  ///   - stream: the device and the inode of standard error; nil when it is closed.
  package func resolved(journal: String?, stream: (device: UInt64, inode: UInt64)?) -> LogFormat {
    guard self == .auto else { return self }
    guard let journal, let stream, journal == "\(stream.device):\(stream.inode)" else { return .logfmt }
    return .journald
  }
}
