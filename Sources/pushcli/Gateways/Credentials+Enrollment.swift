import GatewayClient

extension Credentials {
  /// Enrolls a device over the admin socket and keeps what it needs.
  static func enroll(_ name: String, person: String?, state: StateOptions) async throws -> Credentials {
    struct Request: Encodable {
      var name: String
      var person: String?
    }
    let credentials: Credentials = try await Admin(state).post("/v1/devices", Request(name: name, person: person))
    try credentials.save(in: try state.folder)
    return credentials
  }
}
