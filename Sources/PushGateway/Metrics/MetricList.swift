extension Metric {
  /// Every counter, gauge and histogram there is.
  static let all = pushes + stages + mailbox + connections + limits + loops + files + process
}
