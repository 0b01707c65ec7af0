import PushStorage

/// Adds an app, or changes what is said of it; what is not said stays as it was.
struct PutApp: Sendable {
  let registrations: any Registrations

  /// - Parameter icon: one emoji or two letters; nil for a new app: the initials of its name.
  func callAsFunction(
    topic: String, name: String, icon: String?, policyMode: PolicyMode?, isStrict: Bool?, ads: AdMode?
  ) async throws -> App {
    let known = try? registrations.app(topic: topic)
    let initials = String(name.split(separator: " ").prefix(2).compactMap(\.first)).uppercased()
    return try await registrations.putApp(
      topic: topic, name: name, icon: icon ?? known?.icon ?? initials,
      policyMode: policyMode ?? known?.policyMode ?? .enforce, isStrict: isStrict ?? known?.isStrict ?? false,
      ads: ads ?? known?.ads ?? .standard)
  }
}
