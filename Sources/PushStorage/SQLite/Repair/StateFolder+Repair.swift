package import Foundation
package import PushCore

extension StateFolder {
  /// Reads every page and every row of the database, also while a gateway runs on it; of a large one the ends of its
  /// tables, unless all of it is asked for.
  ///
  /// - Returns: whether all of it was read.
  /// - Throws: an error whose description is one line for people.
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

  /// The same of the delivery log, while no gateway writes it.
  @discardableResult
  package func checkLog(isThorough: Bool) throws -> Bool {
    guard isThorough || SQLiteStore.isSmall(path: logPath) else {
      try SQLiteStore.glance(path: logPath)
      return false
    }
    try SQLiteStore.check(path: logPath)
    return true
  }

  /// Looks at the whole database as a start does, and further.
  private func inspectDatabase() throws {
    // First without writing anything: what is damaged is to be kept as it was found.
    try checkDatabase()
    try SQLiteStore(path: databasePath, isCheckedWhole: true).close()
    try StoredRows.check(path: databasePath)
  }

  /// Saves what is readable of a damaged database into a new one; the damaged one is kept beside it.
  ///
  /// - Returns: nil when there is nothing to repair.
  /// - Throws: ``Failure`` when a gateway runs on the folder, or nothing can be written there.
  package func repair(now: Date = Date()) throws -> RepairReport? {
    let claim = try claim()
    return try withExtendedLifetime(claim) { () -> RepairReport? in
      guard FileManager.default.fileExists(atPath: databasePath) else { return nil }
      do {
        try inspectDatabase()
        return nil
      } catch let error as StoreError where error.isDamage {
        let stamp = now.formatted(.iso8601.dateSeparator(.omitted).timeSeparator(.omitted))
        return try DatabaseRepair.repair(path: databasePath, stamp: stamp)
      }
    }
  }
}
