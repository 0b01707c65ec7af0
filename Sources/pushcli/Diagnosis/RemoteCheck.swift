import Foundation
import GatewayClient
import GatewayProtocol
import PushCore

/// The checks of `pushcli doctor --gateway` on a remote gateway: its status and its certificate. From this machine,
/// they use only the clock and the trusted certificates.
struct RemoteCheck {
  /// The address of a gateway.
  enum Target: Equatable {
    /// HTTP/2 over TLS: an entry of `listen`.
    case tls(host: String, port: Int)
    /// HTTP/1.1: an entry of `http_listen`.
    case plain(host: String, port: Int)

    /// Parses `HOST:PORT`, `https://HOST[:PORT]` or `http://HOST[:PORT]`; nil for other text.
    init?(_ text: String) {
      let scheme = "http://"
      let isPlain = text.lowercased().hasPrefix(scheme)
      let rest = isPlain ? String(text.dropFirst(scheme.count).prefix { $0 != "/" }) : text
      guard let address = try? GatewayAddress(rest, defaultPort: isPlain ? 80 : nil) else { return nil }
      self = isPlain ? .plain(host: address.host, port: address.port) : .tls(host: address.host, port: address.port)
    }
  }

  typealias Finding = DiagnosticCheck.Finding

  /// The maximum time of all answers together; then the connection is closed, and requests without an answer fail.
  private static let answerTime = Duration.seconds(10)

  let target: Target
  let trustPath: String
  var now = Date()

  func findings() async -> [Finding] {
    switch target {
    case .tls(let host, let port): return await examine(host, port)
    case .plain(let host, let port):
      let address = GatewayAddress(host: host, port: port)
      return await health { path in
        do {
          return try await Client.getHTTP1(path, of: address)
        } catch {
          throw ClientError(http1: error, at: address)
        }
      }
    }
  }

  private func examine(_ host: String, _ port: Int) async -> [Finding] {
    let client: Client
    do {
      client = try await Client.connect(to: .tls(host: host, port: port, trustPath: trustPath))
    } catch {
      return [.failed("gateway", "\(error)")]
    }
    let limit = Task {
      try await Task.sleep(for: RemoteCheck.answerTime)
      client.close()
    }
    defer {
      limit.cancel()
      client.close()
    }
    let peer = await client.peer()
    let findings = await health { path in
      let answer = try await client.request("GET", path)
      return (answer.status, answer.body)
    }
    let bundle = try? await client.request("GET", "/v1/authority")
    let authority = bundle.flatMap { $0.status == 200 ? CertificateExpiry.seconds(ofPEM: $0.body) : nil }
    return findings
      + [
        peer.map { Finding.ok("protocol", "HTTP/2 over \($0.protocolVersion)") },
        peer?.certificateExpiry.map {
          certificate(
            "server certificate", "the gateway's certificate", $0,
            "the gateway renews its own certificate; replace any other on its machine")
        },
        authority.map {
          certificate("authority", "its CA", $0, "`pushcli certs rollover` on its machine makes the next one")
        },
      ].compactMap(\.self)
  }

  // MARK: Status and health

  /// - Parameter ask: returns the answer to a request for one path.
  func health(_ ask: (String) async throws -> (status: Int, body: [UInt8])) async -> [Finding] {
    let health: Health
    do {
      let (status, body) = try await ask("/v1/health")
      guard let read = try? decodeJSON(Health.self, from: body) else {
        return [
          .failed(
            "gateway", "the server at this address is not a PushGateway: /v1/health is \(status) with another body")
        ]
      }
      health = read
    } catch {
      return [.failed("gateway", "\(error)")]
    }
    let promise = health.promise.map { ", \($0)" } ?? ""
    var findings = [
      Finding.ok("gateway", "answers; a push that it answers with 200 is stored (\(health.durability))\(promise)")
    ]
    findings += health.problems.map { Finding.failed($0.part, $0.problem) }
    do {
      let ready = try await ask("/readyz")
      findings.append(RemoteCheck.readiness(ready.status, ready.body))
    } catch {
      findings.append(.failed("ready", "\(error)"))
    }
    return findings
  }

  private static func readiness(_ status: Int, _ body: [UInt8]) -> Finding {
    switch status {
    case 200: .ok("ready", "it accepts pushes")
    case 503:
      .failed("ready", String(decoding: body, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines))
    default:
      .warning("ready", "the gateway is older than this pushcli and has no /readyz (\(status))")
    }
  }

  /// - Parameter advice: the action to take before the certificate ends.
  private func certificate(_ check: String, _ what: String, _ end: Int64, _ advice: String) -> Finding {
    let days = (end - Int64(now.timeIntervalSince1970)) / 86_400
    return .certificate(check, what, days: days, advice)
  }
}
