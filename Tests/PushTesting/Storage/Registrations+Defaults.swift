package import PushCore
package import PushStorage

extension Registrations {
  package func putApp(
    topic: String, name: String, icon: String, policyMode: PolicyMode, isStrict: Bool = false,
    ads: AdMode = .standard
  ) async throws -> App {
    try await putApp(
      topic: topic, name: name, icon: icon, policyMode: policyMode, isStrict: isStrict, ads: ads, team: nil)
  }

  package func register(_ device: DeviceID, topic: String, environment: Environment) async throws -> Registration {
    try await register(device, topic: topic, environment: environment, expires: nil, now: 0)
  }

  package func enroll(name: String, person: String?) async throws -> (device: Device, secret: String) {
    try await enroll(name: name, person: person, by: .anyPerson)
  }
}
