/// A failing part of the gateway's storage.
package struct HealthProblem: Codable, Sendable, Equatable {
  /// The name of the part: ``storing``, `delivery-log`, or another part of the storage backend.
  package var part: String
  /// One line for users.
  package var problem: String
  /// The start of the problem, in seconds since 1970.
  package var since: Int64

  /// The part that accepts pushes: no push is stored while this part has a problem.
  package static let storing = "mailbox"

  /// The text of every problem for unauthenticated clients.
  package static let unauthenticatedText = "failing: `pushcli doctor` on the gateway's machine reports the cause"

  package init(part: String, problem: String, since: Int64) {
    (self.part, self.problem, self.since) = (part, problem, since)
  }
}

/// The health of the gateway, for load balancers and operators: `GET /v1/health`.
package struct Health: Codable, Sendable, Equatable {
  /// `ready`, or `degraded` while pushes are refused or events are not logged; pending pushes are still delivered.
  package var status: String
  /// The durability guarantee of a 200: `full` or `normal`, or a word of another storage backend.
  package var durability: String
  /// The durability guarantee in one line for users; nil from an older gateway.
  package var promise: String?
  package var problems: [HealthProblem]
  /// Conditions that the operator should check although everything works; nil if there are none, or from an older
  /// gateway.
  package var warnings: [HealthProblem]?

  package init(
    status: String, durability: String, promise: String? = nil, problems: [HealthProblem],
    warnings: [HealthProblem]? = nil
  ) {
    (self.status, self.durability, self.promise) = (status, durability, promise)
    (self.problems, self.warnings) = (problems, warnings)
  }

  /// The health for unauthenticated clients: the failing parts and their start times, without the files of this
  /// machine.
  package var forRemoteClients: Health {
    var health = self
    for index in health.problems.indices {
      health.problems[index].problem = HealthProblem.unauthenticatedText
    }
    for index in health.warnings?.indices ?? 0..<0 {
      health.warnings?[index].problem = "`pushcli doctor` on the gateway's machine reports the details"
    }
    return health
  }
}
