import GRDB

extension RowChange {
  /// Applies the changes of another gateway's transaction to the replica of this gateway, within a transaction.
  ///
  /// - Throws: ``ReplicaDiverged`` if a row differs from the row on the other gateway: the replicas are no longer the
  ///   same.
  static func apply(_ changes: [RowChange], _ db: Database) throws {
    // References between rows are checked at the end of the transaction.
    try db.execute(sql: "PRAGMA defer_foreign_keys = ON")
    // Deletions come first, because they free unique names for the rows that follow.
    for kind in [RowChange.Kind.delete, .update, .insert] {
      for change in changes where change.kind == kind { try change.apply(db) }
    }
  }

  private func apply(_ db: Database) throws {
    // Tables and columns of a later version are ignored.
    guard Schema.isShared(table), try db.tableExists(table) else { return }
    let known = Set(try db.columns(in: table).map(\.name))
    let values = values.filter { known.contains($0.key) }.sorted { $0.key < $1.key }
    let key = key.sorted { $0.key < $1.key }
    let isKey = key.map { "\(RowChange.quoted($0.key)) = ?" }.joined(separator: " AND ")
    let sql: String
    var arguments = key.map(\.value.databaseValue)
    switch kind {
    case .insert:
      let columns = (key + values).map { RowChange.quoted($0.key) }.joined(separator: ", ")
      let marks = (key + values).map { _ in "?" }.joined(separator: ", ")
      sql = "INSERT INTO \(RowChange.quoted(table)) (\(columns)) VALUES (\(marks))"
      arguments += values.map(\.value.databaseValue)
    case .update:
      if values.isEmpty { return }
      let assignments = values.map { "\(RowChange.quoted($0.key)) = ?" }.joined(separator: ", ")
      sql = "UPDATE \(RowChange.quoted(table)) SET \(assignments) WHERE \(isKey)"
      arguments = values.map(\.value.databaseValue) + arguments
    case .delete:
      sql = "DELETE FROM \(RowChange.quoted(table)) WHERE \(isKey)"
    }
    do {
      try db.cachedStatement(sql: sql).execute(arguments: StatementArguments(arguments))
    } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
      throw ReplicaDiverged(description: "\(table) has a row that is missing in the cluster's")
    }
    guard db.changesCount == 1 else {
      throw ReplicaDiverged(description: "\(table) lacks a row of the cluster's")
    }
  }

  private static func quoted(_ name: String) -> String { "\"" + name.replacing("\"", with: "\"\"") + "\"" }
}

/// An error: a replica differs from the state that the cluster's log has produced on the other gateways.
package struct ReplicaDiverged: Error, CustomStringConvertible {
  package var description: String
}
