extension Metric {
  static let all = pushes + stages + mailbox + connections + limits + loops + files + process
}
