import Foundation
import GRDB
import PushCore
import PushPolicy
import Synchronization

/// Reading all rows at the start.
extension SQLiteRegistrations {
  /// Reads every row to check it, as a start does, and discards the result.
  static func checkRows(_ db: Database) throws {
    _ = (try loadSmall(db), try loadDevices(db), try loadTokens(db), try loadCategories(db))
  }

  /// Reads devices and tokens at the same time, each in the order in which they are stored on disk.
  static func loadTables(_ store: SQLiteStore) throws -> RegistrationTables {
    let tokens = Mutex((tables: RegistrationTables(), failure: (any Error)?.none))
    let isRead = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      do {
        try readTokens(store, into: tokens)
      } catch {
        tokens.withLock { $0.failure = error }
      }
      isRead.signal()
    }
    // There must be no other reference to `tables`, because a change would copy them.
    var tables: RegistrationTables
    do {
      tables = try store.pool.read(loadDevices)
    } catch {
      isRead.wait()
      throw error
    }
    isRead.wait()
    try tokens.withLock { tokens in
      if let failure = tokens.failure { throw failure }
      tables.take(tokensOf: &tokens.tables)
    }
    return tables
  }

  private static func readTokens(
    _ store: SQLiteStore, into tokens: borrowing Mutex<(tables: RegistrationTables, failure: (any Error)?)>
  ) throws {
    let tables = try store.pool.read(loadTokens)
    tokens.withLock { $0.tables = tables }
  }

  /// Returns an upper bound for the number of rows of a table, from its row numbers.
  private static func rowLimit(of table: String, _ db: Database) throws -> Int {
    let highest = try Int64.fetchOne(db, sql: "SELECT max(rowid) FROM \(table)") ?? 0
    let pages = try Int64.fetchOne(db, sql: "PRAGMA page_count") ?? 0
    // A page has at most 100 rows, even if a row's number is wrong.
    return Int(max(0, min(highest, pages * 100)))
  }

  private static func loadDevices(_ db: Database) throws -> RegistrationTables {
    var tables = RegistrationTables()
    tables.reserve(persons: try rowLimit(of: "person", db), devices: try rowLimit(of: "device", db))
    let persons = try PreparedStatement(db, "SELECT id, name, preferences FROM person")
    var known = PreferenceCache()
    while try persons.next() {
      let id = PersonID(row: try persons.integer(0))
      tables.add(id, name: try persons.text(1), choices: try known.choices(persons, 2))
    }
    let devices = try PreparedStatement(db, "SELECT \(RegistrationRows.deviceColumns) FROM device")
    while try devices.next() {
      let device = try RegistrationRows.device(devices)
      unsafe devices.withBytes(6) { unsafe tables.add(device, secretHash: $0) }
    }
    return tables
  }

  private static func loadTokens(_ db: Database) throws -> RegistrationTables {
    var tables = RegistrationTables()
    tables.reserve(tokens: try rowLimit(of: "token", db) + rowLimit(of: "former_token", db))
    let tokens = try PreparedStatement(
      db, "SELECT \(RegistrationRows.tokenColumns) FROM token ORDER BY rowid")
    while try tokens.next() {
      if let registration = try RegistrationRows.registration(tokens) { tables.add(registration, isLinked: false) }
    }
    try loadFormer(db, into: &tables)
    return tables
  }

  /// Reads the tokens of removed devices, and checks the numbers of these devices.
  private static func loadFormer(_ db: Database, into tables: inout RegistrationTables) throws {
    let devices = try PreparedStatement(db, "SELECT id, person FROM former_device")
    while try devices.next() {
      _ = (try devices.integer(0, in: ColumnBounds.progress), try devices.integer(1))
    }
    let tokens = try PreparedStatement(db, "SELECT \(RegistrationRows.formerTokenColumns) FROM former_token")
    while try tokens.next() {
      if let registration = try RegistrationRows.registration(tokens) { tables.add(registration, isLinked: false) }
    }
  }

  /// Reads teams, keys, apps and certificates.
  static func loadSmall(_ db: Database) throws -> State {
    var state = State()
    let teams = try PreparedStatement(db, "SELECT id FROM team")
    while try teams.next() { state.teams.insert(try teams.text(0)) }
    let keys = try PreparedStatement(db, "SELECT id, team, public_key, environment, topics, related FROM key")
    while try keys.next() {
      guard let publicKey = try? ES256Key(publicDER: keys.blob(2)) else {
        throw keys.damage(2, "expected a P-256 key")
      }
      let key = ProviderKey(
        id: try keys.text(0), team: try keys.text(1), publicKey: publicKey,
        environment: try keys.optionalText(3).flatMap(Environment.init),
        topics: try keys.isNull(4) ? nil : keys.json(4, as: Set<String>.self), related: try keys.optionalText(5))
      state.keys[key.id] = key
    }
    let apps = try PreparedStatement(
      db,
      """
      SELECT id, topic, name, icon, policy_mode, strict, ads, team, marketing, known_categories, summary_from,
        counted_from FROM app
      """)
    while try apps.next() {
      let app = App(
        id: AppID(row: try apps.integer(0, in: ColumnBounds.app)), topic: try apps.text(1), name: try apps.text(2),
        icon: try apps.text(3),
        policyMode: PolicyMode(rawValue: try apps.text(4)) ?? .enforce, isStrict: try apps.integer(5) != 0,
        ads: AdMode(rawValue: try apps.text(6)) ?? .standard, team: try apps.optionalText(7),
        sendsMarketing: try apps.integer(8) != 0,
        knownCategories: try apps.isNull(9) ? nil : apps.json(9, as: Set<String>.self),
        measure: SummaryMeasure(
          summaryFrom: try apps.optionalInteger(10, in: ColumnBounds.seconds),
          countedFrom: try apps.integer(11, in: ColumnBounds.seconds)))
      state.apps[app.id] = app
      state.appsByTopic[app.topic] = app.id
    }
    let former = try PreparedStatement(db, "SELECT id FROM former_app")
    while try former.next() { _ = try former.integer(0, in: ColumnBounds.app) }
    let certificates = try PreparedStatement(
      db, "SELECT fingerprint, topic, topics, environments, expires, revoked FROM certificate")
    while try certificates.next() {
      let environments = try certificates.json(3, as: [String].self)
      let certificate = ProviderCertificate(
        fingerprint: certificates.blob(0), topic: try certificates.optionalText(1), topics: try certificates.json(2),
        environments: Set(environments.compactMap(Environment.init)),
        expires: try certificates.optionalInteger(4, in: ColumnBounds.certificateEnd),
        revoked: try certificates.optionalInteger(5, in: ColumnBounds.milliseconds))
      state.certificates[certificate.fingerprint] = certificate
    }
    return state
  }

  static func loadCategories(_ db: Database) throws -> [AppID: [String: Category]] {
    var categories: [AppID: [String: Category]] = [:]
    let rows = try PreparedStatement(db, "SELECT app, id, actions, expires FROM category")
    while try rows.next() {
      let (app, id) = (AppID(row: try rows.integer(0)), try rows.text(1))
      categories[app, default: [:]][id] = Category(
        actions: try rows.json(2, as: [AlertAction].self),
        expires: try rows.optionalInteger(3, in: ColumnBounds.seconds))
    }
    return categories
  }
}

/// The preferences of users. Equal ones are decoded once, because most users have the defaults.
private struct PreferenceCache {
  /// The maximum number of different texts that are cached.
  private static let capacity = 1000
  private var known: [[UInt8]: RegistrationTables.SharedPreferences?] = [:]

  /// Returns the preferences in a column; nil for the defaults.
  mutating func choices(_ row: PreparedStatement, _ column: Int32) throws -> RegistrationTables.SharedPreferences? {
    if unsafe row.withBytes(column, { unsafe $0.elementsEqual("{}".utf8) }) { return nil }
    let text = row.blob(column)
    if let choices = known[text] { return choices }
    let preferences: Preferences = try row.json(column)
    let choices = preferences == Preferences() ? nil : RegistrationTables.SharedPreferences(preferences)
    if known.count < PreferenceCache.capacity { known[text] = choices }
    return choices
  }
}
