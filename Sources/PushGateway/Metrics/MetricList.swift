extension Metric {
  static let all =
    pushes + eventTargets + closedPages + stages + mailbox + connections + limits + loops + files + process
}
