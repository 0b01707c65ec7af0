/// What a part of the store can't do now.
public struct HealthProblem: Codable, Sendable, Equatable {
  /// `mailbox`, `delivery-log`, or another part of the backend.
  public var part: String
  /// One line for people.
  public var problem: String
  /// When it began, in seconds since 1970.
  public var since: Int64
}

/// Whether the gateway can do what it is for: `GET /v1/health`, for load balancers and operators.
public struct Health: Codable, Sendable, Equatable {
  /// `ready`, or `degraded`: pushes are refused or events not logged, and what waits is still delivered.
  public var status: String
  /// What a 200 promises here: `full` or `normal`, or a word of another backend.
  public var durability: String
  /// The same in one line for people; older gateways do not say it.
  public var promise: String?
  public var problems: [HealthProblem]

  init(promise: DurabilityPromise, problems: [HealthProblem]) {
    status = problems.isEmpty ? "ready" : "degraded"
    durability = promise.name
    self.promise = promise.words
    self.problems = problems
  }

  /// 200 or 503.
  var response: Response { Response(self, status: problems.isEmpty ? 200 : 503) }
}
