package import Foundation
package import PushCore

extension StateFolder {
  /// Reads each page and each row of the database, also while a gateway runs on it. Of a large database only the ends
  /// of the tables are read, unless the check is thorough.
  ///
  /// - Returns: true if everything was read.
  /// - Throws: an error whose description is one line that can be shown to users.
  @discardableResult
  package func checkDatabase(isThorough: Bool = true) throws -> Bool {
    guard FileManager.default.fileExists(atPath: databasePath) else { return true }
    guard isThorough || SQLiteStore.isSmall(path: databasePath) else {
      try SQLiteStore.glance(path: databasePath)
      return false
    }
    try SQLiteStore.check(path: databasePath)
    try StoredRows.check(path: databasePath)
    return true
  }

  /// Checks the delivery log in the same way, while no gateway writes it.
  @discardableResult
  package func checkLog(isThorough: Bool) throws -> Bool {
    guard isThorough || SQLiteStore.isSmall(path: logPath) else {
      try SQLiteStore.glance(path: logPath)
      return false
    }
    try SQLiteStore.check(path: logPath)
    return true
  }

  /// Checks the whole database as a start does, and also each row.
  private func inspectDatabase() throws {
    // The first check writes nothing, so that a damaged database is kept as it was found.
    try checkDatabase()
    try SQLiteStore(path: databasePath, isCheckedWhole: true).close()
    try StoredRows.check(path: databasePath)
  }

  /// Saves the readable rows of a damaged database into a new one. The damaged one is kept next to it.
  ///
  /// - Returns: nil if there is nothing to repair.
  /// - Throws: ``Failure`` if a gateway runs on the folder, or the folder can't be written.
  package func repair(now: Date = Date()) throws -> RepairReport? {
    let claim = try claim()
    return try withExtendedLifetime(claim) { () -> RepairReport? in
      guard FileManager.default.fileExists(atPath: databasePath) else { return nil }
      do {
        try inspectDatabase()
        return nil
      } catch let error as StoreError where error.isDamage {
        let stamp = Timestamp.text(now, .compact)
        return try DatabaseRepair.repair(path: databasePath, stamp: stamp)
      }
    }
  }
}
