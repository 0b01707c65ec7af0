import GatewayClient

extension Credentials {
  /// Enrolls a device over the admin socket, or at another gateway of the cluster if that of this machine does not run,
  /// and stores its credentials.
  static func enroll(_ name: String, person: String?, state: StateOptions) async throws -> Credentials {
    let admin: Admin
    do {
      admin = try await Admin(state)
    } catch let failure as CommandFailure where failure.exit == .unreachable {
      guard let other = try await Admin.elsewhere(state, as: nil) else { throw failure }
      admin = other
    }
    let request: [String: String?] = ["name": name, "person": person]
    let credentials: Credentials = try await admin.post("/v1/devices", request.compactMapValues(\.self))
    try credentials.save(in: try state.folder)
    return credentials
  }
}
