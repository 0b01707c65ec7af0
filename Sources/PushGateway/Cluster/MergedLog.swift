import PushCore
import PushStorage

/// The delivery logs of all gateways of a cluster, merged in the order of time.
///
/// Each gateway stores its own rows, in the order in which it wrote them; the rows of two gateways are ordered by the
/// gateways' clocks. A gateway that does not answer in time is left out and named in the result.
struct MergedLog: Sendable {
  let log: DeliveryLog
  let cluster: any Cluster
  /// The device that requests its own rows; nil: a reader of the whole log.
  let reader: DeviceID?
  /// The time that all gateways together may take for an answer.
  var timeout = Duration.seconds(3)

  /// The time that a gateway may take for a query within another operation, while a user waits.
  static let shortTimeout = Duration.seconds(1)
  /// The time between two questions to all gateways while a reader waits: a gateway's notification of new rows may be
  /// lost.
  var lookInterval = Duration.seconds(5)
  /// The minimum time between two questions to all gateways while a reader waits.
  private static let shortestPause = Duration.milliseconds(100)

  /// Rows of several gateways.
  struct Rows: Sendable {
    /// The rows in ascending order of their times.
    var records: [(record: DeliveryLog.Record, gateway: String)]
    /// The position of the next page: of older rows, or of rows that are written later.
    var position: LogPosition
    /// For the newest rows: the position after which no row matched.
    var end: LogPosition
    /// The names of the gateways that have not answered.
    var unanswered: [String]
  }

  /// Returns the newest matching rows before a position.
  func newest(_ query: DeliveryLog.Query, before: LogPosition?) async throws -> Rows {
    try await merge(.newest, query, from: before)
  }

  /// Returns the oldest matching rows after a position.
  ///
  /// - Parameter seconds: the time that the reader continues to wait if there are none.
  func next(_ query: DeliveryLog.Query, after: LogPosition?, waiting seconds: Double? = nil) async throws -> Rows {
    try await merge(.next, query, from: after, waiting: seconds)
  }

  /// Waits for rows after a position; see ``DeliveryLog/nextPage(_:within:)``.
  func next(_ query: DeliveryLog.Query, after: LogPosition?, within time: Duration) async throws -> Rows? {
    var (after, lastLook) = (after, ContinuousClock.Instant?.none)
    return try await log.wait(for: query.id, by: reader, within: time, lookingEach: lookInterval) {
      if let lastLook, .now - lastLook < MergedLog.shortestPause {
        try? await Task.sleep(until: lastLook + MergedLog.shortestPause, clock: .continuous)
      }
      lastLook = .now
      // The search runs in its own task: a canceled search would fail, but a canceled wait returns the existing rows.
      let rows = try await Task { [after] in
        try await next(query, after: after, waiting: lookInterval * 2 / .seconds(1))
      }.value
      after = rows.position
      return (rows, isEmpty: rows.records.isEmpty)
    }
  }

  /// Returns the push that an id names; see ``DeliveryLog/push(named:atMost:)``.
  ///
  /// - Returns: also the names of the gateways that have not answered.
  func push(
    named id: APNSID, atMost size: Int
  ) async throws -> (found: (id: APNSID, device: DeviceID?)?, unanswered: [String]) {
    if let own = try await log.push(named: id, atMost: size) { return (own, []) }
    let query = DeliveryLog.Query(id: id, limit: 1, maximumReadSize: size)
    let (records, unanswered) = await ask(
      LogQuestion(.named, query, reader: reader, limit: 1), within: timeout)
    return (records.first.map { ($0.row.id, $0.row.device) }, unanswered)
  }

  /// Returns rows of the other gateways, unordered: from each as many as fit into one answer.
  ///
  /// - Parameter time: the maximum time for an answer; slower gateways are left out.
  /// - Returns: also the names of the gateways that have not answered.
  func others(
    _ query: DeliveryLog.Query, within time: Duration
  ) async -> (records: [DeliveryLog.Record], unanswered: [String]) {
    await ask(LogQuestion(.newest, query, reader: reader, limit: query.limit), within: time)
  }

  private func ask(
    _ question: LogQuestion, within time: Duration
  ) async -> (records: [DeliveryLog.Record], unanswered: [String]) {
    await withTaskGroup(of: (ClusterMember, LogPassage?).self) { group in
      for gateway in cluster.others {
        group.addTask {
          let answer = await cluster.ask(gateway, LogAnswers.name, controlJSON(question), within: time)
          return (gateway, answer.flatMap(LogPassage.init))
        }
      }
      return await group.reduce(into: ([], [])) { all, one in
        if let passage = one.1 { all.records += passage.records } else { all.unanswered.append(one.0.name) }
      }
    }
  }

  /// Erases the rows or texts of devices from the logs of this gateway and of all reachable gateways.
  ///
  /// An unreachable gateway keeps its rows until its retention period ends.
  func erase(_ devices: Set<DeviceID>, onlyTexts: Bool) async throws {
    let request = LogErasure(devices: devices.map(\.row), onlyTexts: onlyTexts)
    try await request.apply(to: log)
    guard !devices.isEmpty else { return }
    await withTaskGroup(of: Void.self) { group in
      for gateway in cluster.others {
        group.addTask {
          _ = await cluster.ask(gateway, LogErasure.name, controlJSON(request), within: LogErasure.timeout)
        }
      }
    }
  }

  // MARK: Merging

  /// The rows of one gateway that were read and not merged yet.
  private struct Source {
    let gateway: ClusterMember
    let isOwn: Bool
    /// In reverse order of merging: the last one is merged first.
    var rows: [DeliveryLog.Record] = []
    /// True if no more rows follow ``rows``.
    var isComplete = false
    var hasFailed = false
    /// The position at which the next rows are read.
    var readPosition: Int64?
    /// The number after which, or up to which, the rows were not merged.
    var position: Int64?
    /// The position of the next page after all rows are merged.
    var end: Int64?
    /// The number of the newest row that was read.
    var newest: Int64?

    var mustRead: Bool { rows.isEmpty && !isComplete && !hasFailed }
  }

  private func merge(
    _ kind: LogQuestion.Kind, _ query: DeliveryLog.Query, from start: LogPosition?, waiting: Double? = nil
  ) async throws -> Rows {
    let deadline = ContinuousClock.now + timeout
    var sources = sources(from: start)
    var taken: [(record: DeliveryLog.Record, gateway: String)] = []
    var answers: Set<LoggedAnswer> = []
    while taken.count < query.limit {
      let isMissing = sources.indices.filter { sources[$0].mustRead }
      if !isMissing.isEmpty {
        try await read(isMissing, of: &sources, kind, query, left: query.limit - taken.count, waiting, until: deadline)
        continue
      }
      guard let next = MergedLog.next(of: sources, kind), let record = sources[next].rows.popLast() else { break }
      sources[next].position = kind == .newest ? max(0, record.number - 1) : record.number
      if let answer = LoggedAnswer(record.row), !answers.insert(answer).inserted { continue }
      taken.append((record, sources[next].gateway.name))
    }
    var (position, end) = (start ?? LogPosition(), LogPosition())
    for source in sources {
      end.numbers[source.gateway.id] = source.newest
      let isAtEnd = source.rows.isEmpty && source.isComplete && !source.hasFailed
      if let number = isAtEnd ? source.end ?? source.position : source.position {
        position.numbers[source.gateway.id] = number
      }
    }
    return Rows(
      records: MergedLog.ordered(kind == .newest ? taken.reversed() : taken), position: position, end: end,
      unanswered: sources.filter(\.hasFailed).map(\.gateway.name))
  }

  /// Sorts rows by time. A gateway may get a push from JetStream, and log that, before the confirmation that it is
  /// stored.
  private static func ordered(
    _ rows: [(record: DeliveryLog.Record, gateway: String)]
  ) -> [(record: DeliveryLog.Record, gateway: String)] {
    rows.enumerated().sorted { ($0.element.record.row.at, $0.offset) < ($1.element.record.row.at, $1.offset) }
      .map(\.element)
  }

  /// An answer of a user. Each gateway that starts logs the answers that its log lacks, so that several logs may have
  /// the same one.
  private struct LoggedAnswer: Hashable {
    let (id, device, event, at): (APNSID, DeviceID?, DeliveryEvent, Int64)

    /// Returns nil for a row of another event.
    init?(_ row: DeliveryLog.Row) {
      guard [.viewed, .closed, .action].contains(row.event) else { return nil }
      (id, device, event, at) = (row.id, row.device, row.event, row.at)
    }
  }

  private func sources(from start: LogPosition?) -> [Source] {
    let own = cluster.gateway
    return ([own] + cluster.others).enumerated().map { index, gateway in
      let position = start?.numbers[gateway.id]
      return Source(
        gateway: gateway, isOwn: index == 0, hasFailed: index > 0 && gateway.process == nil, readPosition: position,
        position: position)
    }
  }

  /// Returns the index of the source with the next row: the newest or the oldest one.
  private static func next(of sources: [Source], _ kind: LogQuestion.Kind) -> Int? {
    var best: (index: Int, at: Int64)?
    for (index, source) in sources.enumerated() {
      guard let at = source.rows.last?.row.at else { continue }
      guard let known = best, kind == .newest ? at <= known.at : at >= known.at else {
        best = (index, at)
        continue
      }
    }
    return best?.index
  }

  /// Reads the next rows of some gateways.
  private func read(
    _ indices: [Int], of sources: inout [Source], _ kind: LogQuestion.Kind, _ query: DeliveryLog.Query, left: Int,
    _ waiting: Double?, until deadline: ContinuousClock.Instant
  ) async throws {
    let answers = try await withThrowingTaskGroup(of: (Int, LogPassage?).self) { [sources] group in
      for index in indices {
        group.addTask {
          (index, try await passage(of: sources[index], kind, query, left: left, waiting, until: deadline))
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    for (index, answer) in answers {
      guard let answer else {
        sources[index].hasFailed = true
        continue
      }
      take(answer, kind, into: &sources[index])
    }
  }

  /// - Returns: nil if the gateway has not answered.
  private func passage(
    of source: Source, _ kind: LogQuestion.Kind, _ query: DeliveryLog.Query, left: Int, _ waiting: Double?,
    until deadline: ContinuousClock.Instant
  ) async throws -> LogPassage? {
    var query = query
    query.limit = min(left, LogQuestion.maximumLimit)
    switch kind {
    case .newest: query.before = source.readPosition.map { $0 + 1 }
    case .next, .named: query.after = source.readPosition
    }
    if source.isOwn { return try await LogAnswers.answer(kind, query, of: log) }
    let time = deadline - .now
    guard time > .zero else { return nil }
    var question = LogQuestion(kind, query, reader: reader, limit: query.limit)
    question.waits = waiting
    let answer = await cluster.ask(source.gateway, LogAnswers.name, controlJSON(question), within: time)
    return answer.flatMap(LogPassage.init)
  }

  private func take(_ answer: LogPassage, _ kind: LogQuestion.Kind, into source: inout Source) {
    let records = answer.records.prefix(LogQuestion.maximumLimit)
    let last = kind == .newest ? records.first?.number : records.last?.number
    source.isComplete = answer.isComplete
    // A gateway that announces more rows but returns none would be asked forever.
    if !answer.isComplete, records.isEmpty { source.hasFailed = true }
    switch kind {
    case .newest:
      source.rows = Array(records)
      source.newest = source.newest ?? records.last?.number ?? 0
      source.readPosition = last.map { max(0, $0 - 1) }
    case .next, .named:
      let next = min(max(0, answer.next), .max - 1)
      source.rows = records.reversed()
      (source.readPosition, source.end) = (max(next, last ?? 0), next)
    }
  }
}
