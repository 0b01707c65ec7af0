import Foundation
import GRDB
package import PushCore
import PushPolicy

/// Registers many devices at once, for load tests: a transaction for each device would cost more than the test.
///
/// A hundred thousand devices write 377 MB of write-ahead log. Each batch moves its own part into the database, so
/// that the pushes of the test are not slowed down by it.
extension SQLiteRegistrations {
  package func enroll(
    batch name: String, numbers: Range<Int>, topic: String, environment: Environment
  ) async throws -> [(secret: String, token: DeviceToken)] {
    try SQLiteRegistrations.requireBatchName(name)
    let app = try app(topic: topic)
    struct Row: Sendable {
      var name: String
      var uuid = randomUUID()
      var secret = randomBytes(count: 32).flatMap { [hexDigit($0 >> 4), hexDigit($0 & 15)] }
      var token = DeviceToken.random()
    }
    let rows = numbers.map { Row(name: "\(name)-\($0)") }
    // The last push of a load test must be presented like the first: no alert budget applies.
    var choices = Preferences()
    choices.apps[topic, default: AppPreferences()].alertBudget = .unlimited
    let text = try choices.stored()
    let known = RegistrationTables.SharedPreferences(choices)
    try await store.write { [self] db in
      let person = try db.makeStatement(sql: "INSERT INTO person (name, preferences) VALUES (?, ?)")
      let device = try db.makeStatement(
        sql: """
          INSERT INTO device (id, uuid, name, person, secret_hash)
          VALUES (\(SQLiteRegistrations.nextDevice), ?, ?, ?, ?)
          """)
      let token = try db.makeStatement(sql: "INSERT INTO token (token, device, app, environment) VALUES (?, ?, ?, ?)")
      let records = try rows.map { row -> (device: Device, secretHash: [UInt8], registration: Registration) in
        let hash = Digest.sha256(row.secret)
        do {
          try person.execute(arguments: [row.name, text])
          let owner = PersonID(row: db.lastInsertedRowID)
          try device.execute(arguments: [row.uuid, row.name, owner.row, Data(hash)])
          let id = DeviceID(row: db.lastInsertedRowID)
          try token.execute(arguments: [Data(row.token.bytes), id.row, app.id.row, environment.rawValue])
          return (
            Device(id: id, uuid: row.uuid, name: row.name, person: owner), hash,
            Registration(token: row.token, device: id, app: app.id, environment: environment)
          )
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
          throw Refusal(kind: .conflict, description: "there is a device or user \(row.name): choose another name")
        }
      }
      db.afterNextTransaction { [self] _ in add(records, choices: known) }
    }
    try? store.moveLog()
    return rows.map { (String(decoding: $0.secret, as: UTF8.self), $0.token) }
  }

  package func remove(batch name: String) async throws -> [(device: DeviceID, app: AppID)] {
    try SQLiteRegistrations.requireBatchName(name)
    // The name, a hyphen, and only digits: removing "load" must not remove "load-2-0".
    let isOfBatch = "name GLOB ? AND name NOT GLOB ?"
    let patterns = [name + "-[0-9]*", name + "-*[^0-9]*"]
    let names = StatementArguments(patterns)
    let removed = try await store.write { db in
      let members = try PreparedStatement(
        db, "SELECT device.id, person, app FROM device JOIN token ON device = device.id WHERE \(isOfBatch)")
      for pattern in patterns { members.bind(text: pattern) }
      var rows: [(device: DeviceID, person: PersonID, app: AppID)] = []
      while try members.next() {
        let (device, person, app) = (try members.integer(0), try members.integer(1), try members.integer(2))
        rows.append((DeviceID(row: device), PersonID(row: person), AppID(row: app)))
      }
      try db.execute(
        sql: "DELETE FROM token WHERE device IN (SELECT id FROM device WHERE \(isOfBatch))", arguments: names)
      // The highest number stays, so that it is not assigned again.
      try db.execute(
        sql: """
          INSERT OR IGNORE INTO former_device (id, person)
            SELECT last, 0 FROM (SELECT max(id) AS last FROM device WHERE \(isOfBatch)) WHERE last NOT NULL
          """, arguments: names)
      try db.execute(
        sql: "DELETE FROM push_subscription WHERE device IN (SELECT id FROM device WHERE \(isOfBatch))",
        arguments: names)
      try db.execute(sql: "DELETE FROM device WHERE \(isOfBatch)", arguments: names)
      try db.execute(
        sql: "DELETE FROM person WHERE \(isOfBatch) AND id NOT IN (SELECT person FROM device)", arguments: names)
      let gone = rows.map { (device: $0.device, person: $0.person) }
      db.afterNextTransaction { [self] _ in
        forget(gone)
        notify(.revokedDevices(gone.map(\.device)))
      }
      return rows
    }
    try? store.moveLog()
    return removed.map { ($0.device, $0.app) }
  }

  /// Checks the name of a batch. It leaves space for the number in a device's name, and contains no special
  /// characters of GLOB for the pattern in ``remove(batch:)``.
  private static func requireBatchName(_ name: String) throws(Refusal) {
    guard (1...32).contains(name.utf8.count),
      name.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") })
    else {
      throw Refusal(
        kind: .invalid, description: "invalid name of a batch: expected up to 32 letters, digits and hyphens")
    }
  }
}
