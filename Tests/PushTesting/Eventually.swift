/// Returns when `condition` holds: for state of which the product notifies nobody.
///
/// It has no time limit, so that no load makes a test fail; the limit of the suite ends a hang.
package func eventually(_ condition: () async throws -> Bool) async rethrows {
  while try await !condition() { try? await Task.sleep(for: .milliseconds(2)) }
}
