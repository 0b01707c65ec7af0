import GRDB
package import PushCore
import Synchronization

extension SQLiteRegistrations {
  // Lists are read from disk in the order of an index: this holds no lock that a push needs, and the memory does not
  // grow with the lists.

  package func listDevices(_ page: ListPage) async throws -> [DeviceID] {
    try await list("device", page).map(DeviceID.init(row:))
  }

  package func listPersons(_ page: ListPage) async throws -> [PersonID] {
    try await list("person", page).map(PersonID.init(row:))
  }

  package func listed(_ id: DeviceID) -> ListedDevice? {
    state.withLock { $0.tables.listed(id) }.map { device, person, registrations in
      ListedDevice(
        device: device, person: person,
        registrations: registrations.filter { $0.unregistered == nil }.compactMap { registration in
          app(registration.app).map { (registration, $0) }
        })
    }
  }

  private func list(_ table: String, _ page: ListPage) async throws -> [Int64] {
    try await store.read { db in
      let rows = try PreparedStatement(
        db,
        """
        SELECT id FROM \(table) WHERE name > ? AND (? = '' OR instr(name, ?) > 0) ORDER BY name LIMIT ?
        """, isKept: true)
      defer { rows.reset() }
      for text in [page.after ?? "", page.filter ?? "", page.filter ?? ""] { rows.bind(text: text) }
      rows.bind(Int64(page.limit))
      return try rows.map { try $0.integer(0) }
    }
  }
}
