/// Returns when `condition` holds. For state without change notifications.
///
/// There is no time limit, so that a loaded machine fails no test. The limit of the suite ends a hang.
package func eventually(_ condition: () async throws -> Bool) async rethrows {
  while try await !condition() { try? await Task.sleep(for: .milliseconds(2)) }
}
