extension Metric {
  static let all = pushes + stages + upstream + mailbox + connections + limits + loops + files + process
}
