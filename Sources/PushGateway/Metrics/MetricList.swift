extension Metric {
  static let all =
    pushes + eventTargets + closedPages + stages + upstream + mailbox + connections + limits + loops + files + process
}
