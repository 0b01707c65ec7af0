extension Metric {
  /// All metrics.
  static let all = pushes + stages + mailbox + connections + limits + loops + files + process
}
