/// What a part of the store can't do now.
package struct HealthProblem: Codable, Sendable, Equatable {
  /// ``storing``, `delivery-log`, or another part of the backend.
  package var part: String
  /// One line for people.
  package var problem: String
  /// When it began, in seconds since 1970.
  package var since: Int64

  /// The part that takes pushes: while it has a problem none is stored.
  package static let storing = "mailbox"

  /// What strangers are told of any problem.
  package static let wordsForStrangers = "failing: `pushcli doctor` on the gateway's machine reports the cause"

  package init(part: String, problem: String, since: Int64) {
    self.part = part
    self.problem = problem
    self.since = since
  }
}

/// Whether the gateway can do what it is for: `GET /v1/health`, for load balancers and operators.
package struct Health: Codable, Sendable, Equatable {
  /// `ready`, or `degraded`: pushes are refused or events not logged, and what waits is still delivered.
  package var status: String
  /// What a 200 promises here: `full` or `normal`, or a word of another backend.
  package var durability: String
  /// The same in one line for people; older gateways do not say it.
  package var promise: String?
  package var problems: [HealthProblem]
  /// What the operator should look at while everything works; nil: nothing, or an older gateway.
  package var warnings: [HealthProblem]?

  package init(
    status: String, durability: String, promise: String? = nil, problems: [HealthProblem],
    warnings: [HealthProblem]? = nil
  ) {
    self.status = status
    self.durability = durability
    self.promise = promise
    self.problems = problems
    self.warnings = warnings
  }

  /// What anybody may know: which part fails, and since when, but not what files this machine has.
  package var forStrangers: Health {
    var health = self
    for index in health.problems.indices {
      health.problems[index].problem = HealthProblem.wordsForStrangers
    }
    for index in health.warnings?.indices ?? 0..<0 {
      health.warnings?[index].problem = "`pushcli doctor` on the gateway's machine reports the details"
    }
    return health
  }
}
