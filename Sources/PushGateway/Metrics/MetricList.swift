extension Metric {
  static let all: [Metric] =
    pushes + stages + upstream + mailbox + connections + limits + loops + files + process
}
