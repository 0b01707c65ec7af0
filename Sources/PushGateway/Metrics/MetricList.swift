extension Metric {
  static let all: [Metric] =
    pushes + eventTargets + closedPages + stages + upstream + mailbox + connections + limits + loops + files + process
}
