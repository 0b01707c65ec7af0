import Foundation
import GRDB
import PushCore

package enum RowValue: Sendable, Equatable {
  case null
  case integer(Int64)
  case real(Double)
  case text(String)
  case blob([UInt8])
}

/// The change of one row of a shared database by one transaction.
package struct RowChange: Sendable, Equatable, Codable {
  package enum Kind: String, Sendable, Codable { case insert, update, delete }

  package var table: String
  package var kind: Kind
  /// The columns of the primary key, with the values before the change.
  package var key: [String: RowValue]
  /// The other columns: all of them for an insertion, the changed ones for an update, the former values without long
  /// ones for a deletion.
  package var values: [String: RowValue] = [:]
}

/// All changes of one transaction, encoded as JSON in one message.
package struct ChangeSet: Sendable, Equatable, Codable {
  /// The number of migrations in the schema in which these rows were written (``StoreSchema/version``). A gateway of
  /// an earlier version leaves out tables and columns that it does not know.
  package var schema: Int
  package var changes: [RowChange]

  package init(schema: Int = StoreSchema.current.version, changes: [RowChange]) {
    (self.schema, self.changes) = (schema, changes)
  }

  package func encoded() throws -> [UInt8] { Array(try JSONEncoder().encode(self)) }

  /// Decodes a message.
  ///
  /// - Throws: an error if the bytes are not a change set.
  package init(encoded bytes: [UInt8]) throws { self = try decodeJSON(from: bytes) }

  /// Returns ``schema`` alone, also from an entry of a later version; nil if the bytes have none.
  package static func schema(of bytes: [UInt8]) -> Int? { try? decodeJSON(Version.self, from: bytes).schema }

  /// The part of an entry that all versions have.
  private struct Version: Codable { var schema: Int }

  /// A description of the first number that no gateway of this version writes (``ColumnBounds``); nil if there is
  /// none.
  package var fault: String? {
    for change in changes {
      for (column, value) in [change.key, change.values].joined() {
        guard let number = value.integer else { continue }
        let range = ColumnBounds.range(ofColumn: column, in: change.table)
        if !range.contains(number) { return "\(change.table).\(column) is \(number), beyond \(range)" }
      }
    }
    return nil
  }
}

extension RowValue: Codable {
  private enum Field: String, CodingKey { case real, blob }

  package init(from decoder: any Decoder) throws {
    if let fields = try? decoder.container(keyedBy: Field.self) {
      if let real = try fields.decodeIfPresent(Double.self, forKey: .real) {
        self = .real(real)
      } else {
        self = .blob(Array(try fields.decode(Data.self, forKey: .blob)))
      }
      return
    }
    let value = try decoder.singleValueContainer()
    if value.decodeNil() {
      self = .null
    } else if let number = try? value.decode(Int64.self) {
      self = .integer(number)
    } else {
      self = .text(try value.decode(String.self))
    }
  }

  package func encode(to encoder: any Encoder) throws {
    switch self {
    case .real(let real):
      var fields = encoder.container(keyedBy: Field.self)
      try fields.encode(real, forKey: .real)
    case .blob(let bytes):
      var fields = encoder.container(keyedBy: Field.self)
      try fields.encode(Data(bytes), forKey: .blob)
    case .null, .integer, .text:
      var value = encoder.singleValueContainer()
      switch self {
      case .integer(let number): try value.encode(number)
      case .text(let text): try value.encode(text)
      case .null, .real, .blob: try value.encodeNil()
      }
    }
  }

  /// The value as a parameter for SQLite.
  var databaseValue: DatabaseValue {
    switch self {
    case .null: .null
    case .integer(let number): number.databaseValue
    case .real(let real): real.databaseValue
    case .text(let text): text.databaseValue
    case .blob(let bytes): Data(bytes).databaseValue
    }
  }

  /// True for a text or a blob of more than 64 bytes: no row is looked up by it.
  var isLong: Bool {
    switch self {
    case .null, .integer, .real: false
    case .text(let text): text.utf8.count > 64
    case .blob(let bytes): bytes.count > 64
    }
  }

  package var integer: Int64? { if case .integer(let number) = self { number } else { nil } }
  package var blob: [UInt8]? { if case .blob(let bytes) = self { bytes } else { nil } }
  package var text: String? { if case .text(let text) = self { text } else { nil } }
}
