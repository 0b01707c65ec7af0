import GRDB

/// Does to this gateway's replica what another gateway's transaction did to its own.
enum ChangeApplier {
  /// - Throws: ``ReplicaDiverged`` when a row is not as it was there: the replicas are not the same any longer.
  static func apply(_ changes: [RowChange], _ db: Database) throws {
    // What is checked is how rows refer to each other at the end.
    try db.execute(sql: "PRAGMA defer_foreign_keys = ON")
    // What goes first makes room for what comes: names are unique.
    for kind in [RowChange.Kind.delete, .update, .insert] {
      for change in changes where change.kind == kind { try apply(change, db) }
    }
  }

  private static func apply(_ change: RowChange, _ db: Database) throws {
    // A later version's tables and columns are nothing to this one.
    guard Schema.isShared(change.table), try db.tableExists(change.table) else { return }
    let known = Set(try db.columns(in: change.table).map(\.name))
    let values = change.values.filter { known.contains($0.key) }.sorted { $0.key < $1.key }
    let key = change.key.sorted { $0.key < $1.key }
    let isKey = key.map { "\(quoted($0.key)) = ?" }.joined(separator: " AND ")
    let sql: String
    var arguments = key.map(\.value.databaseValue)
    switch change.kind {
    case .insert:
      let columns = (key + values).map { quoted($0.key) }.joined(separator: ", ")
      let marks = (key + values).map { _ in "?" }.joined(separator: ", ")
      sql = "INSERT INTO \(quoted(change.table)) (\(columns)) VALUES (\(marks))"
      arguments += values.map(\.value.databaseValue)
    case .update:
      if values.isEmpty { return }
      let assignments = values.map { "\(quoted($0.key)) = ?" }.joined(separator: ", ")
      sql = "UPDATE \(quoted(change.table)) SET \(assignments) WHERE \(isKey)"
      arguments = values.map(\.value.databaseValue) + arguments
    case .delete:
      sql = "DELETE FROM \(quoted(change.table)) WHERE \(isKey)"
    }
    do {
      try db.cachedStatement(sql: sql).execute(arguments: StatementArguments(arguments))
    } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
      throw ReplicaDiverged(description: "\(change.table) has a row that is missing in the cluster's")
    }
    guard db.changesCount == 1 else {
      throw ReplicaDiverged(description: "\(change.table) lacks a row of the cluster's")
    }
  }

  private static func quoted(_ name: String) -> String { "\"" + name.replacing("\"", with: "\"\"") + "\"" }
}

/// A replica is not what the cell's log made of the others.
package struct ReplicaDiverged: Error, CustomStringConvertible {
  package var description: String
}
