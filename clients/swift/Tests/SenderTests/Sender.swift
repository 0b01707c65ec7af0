import Foundation

/// A sender, in place of your own: it sends pushes with curl. It knows the APNs server by its URL and its certificate only.
struct Sender {
  let url: String
  let caFile: String

  /// A provider token. A test gateway checks its form and its age, and not its signature.
  private var authorization: String {
    let now = Int(Date().timeIntervalSince1970)
    let parts = [#"{"alg":"ES256","kid":"ABC1234567"}"#, #"{"iss":"TEAM123456","iat":\#(now)}"#, "signature"]
    return parts.map { Data($0.utf8).base64EncodedString().replacingOccurrences(of: "=", with: "") }
      .joined(separator: ".")
  }

  /// Sends a push.
  ///
  /// - Returns: true if the server accepted it.
  func send(_ payload: String, to token: String, topic: String = "com.example.train") async throws -> Bool {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [
      "curl", "--silent", "--fail", "--http2", "--noproxy", "*", "--cacert", caFile, "--header",
      "authorization: bearer \(authorization)", "--header", "apns-topic: \(topic)", "--data", payload,
      "\(url)/3/device/\(token)",
    ]
    process.standardOutput = FileHandle.nullDevice
    return try await withCheckedThrowingContinuation { continuation in
      process.terminationHandler = { continuation.resume(returning: $0.terminationStatus == 0) }
      do {
        try process.run()
      } catch {
        continuation.resume(throwing: error)
      }
    }
  }
}
