extension Metric {
  static let all = pushes + eventTargets + stages + mailbox + connections + limits + loops + files + process
}
