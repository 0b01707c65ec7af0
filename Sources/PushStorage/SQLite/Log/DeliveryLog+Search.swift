import GRDB
package import PushCore

extension DeliveryLog {
  /// Returns the newest rows that match, the oldest first.
  @inline(never)
  package func rows(_ query: Query) async throws -> [Record] {
    guard let numbers = query.batches else { return [] }
    await settle()
    return try await records(query, in: numbers, .newestFirst).found.reversed()
  }

  /// Returns the oldest rows that match after ``Query/after``, up to a limit, for reading in pages.
  ///
  /// A new file restarts the numbers: for an `after` that has not been given out yet, the search begins at the first
  /// row.
  ///
  /// - Returns: the rows of the page, the oldest first, and the number after which the next page begins: all matching
  ///   rows up to it have been returned.
  @inline(never)
  package func page(_ query: Query) async throws -> (records: [Record], next: Int64) {
    await settle()
    return try await writtenPage(query)
  }

  /// Returns the rows as ``page(_:)`` does, without rows that are not written yet.
  @inline(never)
  func writtenPage(_ query: Query) async throws -> (records: [Record], next: Int64) {
    let newest = try await newestBatch()
    var query = query
    if let after = query.after, after >> LogBatch.numberBits > newest { query.after = nil }
    let end = newest << LogBatch.numberBits | (1 << LogBatch.numberBits - 1)
    guard let numbers = query.batches?.clamped(to: 0...newest), (query.after ?? 0) < end else {
      return ([], query.after ?? 0)
    }
    let (found, isCut) = try await records(query, in: numbers, .oldestFirst)
    return (found, isCut ? found.last?.number ?? end : max(end, query.after ?? 0))
  }

  /// Returns the number after which the newest ``Query/limit`` rows that match begin: a reader of many rows reads
  /// pages from there on.
  @inline(never)
  package func start(of query: Query) async throws -> Int64 {
    guard let numbers = query.batches else { return query.after ?? 0 }
    await settle()
    let found = try await search(numbers, .newestFirst, query.scope, limit: query.limit) { number, bytes in
      query.records(of: number, bytes).map(\.number).reversed()
    }.found
    return found.count < query.limit ? query.after ?? 0 : max(0, (found.last ?? 1) - 1)
  }

  /// Returns the newest push with an id: its `apns-id`, and its device if the id is an `apns-unique-id`.
  ///
  /// - Parameter size: the number of bytes of the log that are searched, from the newest on.
  @inline(never)
  package func push(named id: APNSID, atMost size: Int = .max) async throws -> (id: APNSID, device: DeviceID?)? {
    await settle()
    let scope = Scope(keys: [LogKey.id(id)], since: nil, size: size)
    let rows = try await search(Query.allBatches, .newestFirst, scope, limit: 1) { _, bytes in
      LogBatch.rows(bytes) { _, row in row.id == id || row.uniqueID == id }.last.map { [$0.row] } ?? []
    }.found
    return rows.first.map { $0.id == id ? (id, nil) : ($0.id, $0.device) }
  }

  private func newestBatch() async throws -> Int64 {
    try await file.read { db in
      let newest = try PreparedStatement(db, "SELECT max(number) FROM batch WHERE number BETWEEN 0 AND ?")
      newest.bind(Query.allBatches.upperBound)
      defer { newest.reset() }
      guard try newest.next() else { return 0 }
      return try newest.optionalInteger(0, in: Query.allBatches) ?? 0
    }
  }

  private func records(
    _ query: Query, in numbers: ClosedRange<Int64>, _ order: Order
  ) async throws -> (found: [Record], isCut: Bool) {
    try await search(numbers, order, query.scope, limit: query.limit) { number, bytes in
      let records = query.records(of: number, bytes)
      return order == .oldestFirst ? records : records.reversed()
    }
  }

  // MARK: Slices

  fileprivate enum Order { case oldestFirst, newestFirst }

  /// The conditions by which a search skips batches.
  fileprivate struct Scope: Sendable {
    /// The keys that each matching row has.
    var keys: [UInt64]
    /// The time in milliseconds since 1970; batches whose last row is older are skipped.
    var since: Int64?
    /// The maximum number of bytes to read; the batch that exceeds it is still read.
    var size: Int

    var isEverything: Bool { keys.isEmpty && since == nil }
  }

  /// Searches batches in slices of ``Limits/logSearchSlice`` bytes. Between them the writer can access the file.
  ///
  /// - Parameters:
  ///   - limit: the maximum number of results.
  ///   - pick: returns the results of the batch with this number, in the order of the search.
  /// - Returns: the results, and true if there may be more.
  private func search<Found: Sendable>(
    _ numbers: ClosedRange<Int64>, _ order: Order, _ scope: Scope, limit: Int,
    _ pick: @escaping @Sendable (_ number: Int64, _ rows: [UInt8]) -> [Found]
  ) async throws -> (found: [Found], isCut: Bool) {
    var found: [Found] = []
    var (left, size): (ClosedRange<Int64>?, Int) = (numbers, scope.size)
    while let numbers = left, found.count < limit, size > 0 {
      let missing = limit - found.count
      let slice = try await file.read { [size] db in
        var slice = try Slice<Found>(db, numbers, order)
        try slice.fill(scope, missing: missing, atMost: min(size, Limits.logSearchSlice), pick)
        return (found: slice.found, size: slice.size, left: slice.left)
      }
      found += slice.found
      size -= slice.size
      left = slice.left
    }
    return (Array(found.prefix(limit)), left != nil || found.count > limit)
  }

  /// A part of the log that is read at once.
  private struct Slice<Found> {
    let order: Order
    /// The batches that remain to be searched; nil if none is left.
    var left: ClosedRange<Int64>?
    var found: [Found] = []
    var size = 0
    private let groupBefore: PreparedStatement
    private let groupAfter: PreparedStatement
    private let batches: PreparedStatement

    init(_ db: Database, _ numbers: ClosedRange<Int64>, _ order: Order) throws {
      self.order = order
      left = numbers
      let columns = "SELECT first_batch, last_batch, last, filter FROM batch_group"
      groupBefore = try PreparedStatement(
        db, columns + " WHERE first_batch <= ? ORDER BY first_batch DESC LIMIT 1", isKept: true)
      groupAfter = try PreparedStatement(
        db, columns + " WHERE first_batch > ? ORDER BY first_batch LIMIT 1", isKept: true)
      batches = try PreparedStatement(
        db,
        "SELECT number, rows FROM batch WHERE last >= ? AND number >= ? AND number <= ? ORDER BY number"
          + (order == .oldestFirst ? "" : " DESC"), isKept: true)
    }

    mutating func fill(
      _ scope: Scope, missing: Int, atMost maximum: Int, _ pick: (_ number: Int64, _ rows: [UInt8]) -> [Found]
    ) throws {
      while let numbers = left {
        let (span, mayMatch) = try span(of: numbers, scope)
        if mayMatch {
          guard try read(span, scope, missing: missing, atMost: maximum, pick) else { return }
        }
        advance(over: order == .oldestFirst ? span.upperBound : span.lowerBound)
        if size >= maximum { return }
      }
    }

    /// Removes a batch and those before it from the remaining ones.
    private mutating func advance(over number: Int64) {
      guard let numbers = left else { return }
      switch order {
      case .oldestFirst: left = number < numbers.upperBound ? number + 1...numbers.upperBound : nil
      case .newestFirst: left = number > numbers.lowerBound ? numbers.lowerBound...number - 1 : nil
      }
    }

    /// Reads batches one after another.
    ///
    /// - Returns: false if the slice is full; ``left`` has the batches for the next one.
    private mutating func read(
      _ span: ClosedRange<Int64>, _ scope: Scope, missing: Int, atMost maximum: Int,
      _ pick: (_ number: Int64, _ rows: [UInt8]) -> [Found]
    ) throws -> Bool {
      batches.bind(scope.since ?? .min)
      batches.bind(span.lowerBound)
      batches.bind(span.upperBound)
      defer { batches.reset() }
      while try batches.next() {
        let (number, bytes) = (try batches.integer(0, in: Query.allBatches), batches.blob(1))
        found += pick(number, bytes)
        size += bytes.count
        if found.count >= missing || size >= maximum {
          advance(over: number)
          return false
        }
      }
      return true
    }

    /// Returns the next batches that share an answer, and true if they may contain matching rows.
    private mutating func span(
      of numbers: ClosedRange<Int64>, _ scope: Scope
    ) throws -> (ClosedRange<Int64>, mayMatch: Bool) {
      guard !scope.isEverything else { return (numbers, true) }
      switch order {
      case .newestFirst:
        guard let group = try group(groupBefore, numbers.upperBound, scope), group.numbers.overlaps(numbers) else {
          return (numbers, true)
        }
        let end = group.numbers.upperBound
        if end < numbers.upperBound { return (end + 1...numbers.upperBound, true) }
        return (group.numbers.clamped(to: numbers), group.mayMatch)
      case .oldestFirst:
        if let group = try group(groupBefore, numbers.lowerBound, scope), group.numbers.contains(numbers.lowerBound) {
          return (group.numbers.clamped(to: numbers), group.mayMatch)
        }
        guard let group = try group(groupAfter, numbers.lowerBound, scope), group.numbers.overlaps(numbers) else {
          return (numbers, true)
        }
        return (numbers.lowerBound...group.numbers.lowerBound - 1, true)
      }
    }

    private mutating func group(
      _ statement: PreparedStatement, _ number: Int64, _ scope: Scope
    ) throws -> (numbers: ClosedRange<Int64>, mayMatch: Bool)? {
      statement.bind(number)
      defer { statement.reset() }
      guard try statement.next() else { return nil }
      let first = try statement.integer(0, in: Query.allBatches)
      let numbers = first...(try statement.integer(1, in: first...Query.allBatches.upperBound))
      // Only the log writes this column: its range is not checked, and a value that is not an integer is reported as
      // damage.
      if let since = scope.since, try statement.integer(2, in: .min ... .max) < since { return (numbers, false) }
      let (mayMatch, read) = unsafe statement.withBytes(3) { bytes in
        (scope.keys.allSatisfy { unsafe LogFilter.mayContain($0, in: bytes) }, bytes.count)
      }
      size += read
      return (numbers, mayMatch)
    }
  }
}

extension DeliveryLog.Query {
  /// The range of the batch numbers whose rows have numbers.
  fileprivate static let allBatches = 0...Int64.max >> LogBatch.numberBits

  /// The batches with the requested row numbers; nil if no batch can have them.
  fileprivate var batches: ClosedRange<Int64>? {
    // A reader may request any value for both.
    let (first, last) = (max(0, after ?? 0) >> LogBatch.numberBits, (before ?? .max) >> LogBatch.numberBits)
    return first <= last ? first...last : nil
  }

  fileprivate var scope: DeliveryLog.Scope {
    var keys: [UInt64] = []
    if let id { keys.append(LogKey.id(id)) }
    if let device { keys.append(LogKey.device(device.row)) }
    if let app { keys.append(LogKey.app(app.row)) }
    return DeliveryLog.Scope(keys: keys, since: since, size: maximumReadSize)
  }

  /// Returns the rows of a batch that match, in order.
  fileprivate func records(of number: Int64, _ bytes: [UInt8]) -> [DeliveryLog.Record] {
    let first = number << LogBatch.numberBits
    let rows = LogBatch.rows(bytes) { index, row in
      // A batch has at most as many rows as it has numbers.
      index < 1 << LogBatch.numberBits && matches(row, first + Int64(index))
    }
    let sought = text?.lowercased()
    return rows.compactMap { index, row, text in
      let text = row.device.flatMap { textAccess($0).text(of: text) }
      if let sought, text?.lowercased().contains(sought) != true { return nil }
      return DeliveryLog.Record(number: first + Int64(index), row: row, text: text)
    }
  }

  /// Returns true if a row with this number matches.
  fileprivate func matches(_ row: DeliveryLog.Row, _ number: Int64) -> Bool {
    matches(row) && (after.map { number > $0 } ?? true) && (before.map { number < $0 } ?? true)
  }

  /// Returns true if a row matches, regardless of its number.
  private func matches(_ row: DeliveryLog.Row) -> Bool {
    if let apps, row.app.map({ apps.contains($0) }) != true { return false }
    return (id.map { $0 == row.id } ?? true) && (device.map { $0 == row.device } ?? true)
      && (app.map { $0 == row.app } ?? true) && (events.map { $0.contains(row.event) } ?? true)
      && (since.map { row.at >= $0 } ?? true)
  }
}
