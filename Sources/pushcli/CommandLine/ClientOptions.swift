import ArgumentParser
import Foundation
import GatewayClient
import GatewayProtocol
import Glibc
import HTTP2Transport
import PushCore
import PushGateway

/// Which gateway a command means.
struct StateOptions: ParsableArguments {
  @Option(name: .long, help: "The gateway's state folder (also $PUSHGATEWAY_STATE).", completion: .directory)
  var state: String?

  /// - Throws: ``CommandFailure`` where none is named and there is no home.
  var folder: StateFolder {
    get throws {
      do {
        return StateFolder(
          try Configuration.stateFolder(flag: state, environment: ProcessInfo.processInfo.environment))
      } catch {
        throw CommandFailure(.usage, error.description)
      }
    }
  }

  /// Says so when a gateway's folder is there and another person's.
  ///
  /// - Throws: ``CommandFailure`` when `path`, a file of the folder, may not be looked at.
  func checkPermission(of path: String, mode: Int32) throws {
    guard unsafe access(path, mode) != 0, errno == EACCES else { return }
    throw CommandFailure(
      .notAuthorized, "\(path) may not be used by this user: run the command as the gateway's own user")
  }
}

/// Whether data is printed for programs.
struct FormatOptions: ParsableArguments {
  @Flag(name: .long, help: "Print JSON: one object, or one object a line.")
  var json = false
}

/// Where a gateway accepts providers and devices.
struct GatewayOptions: ParsableArguments {
  @OptionGroup var state: StateOptions

  @Option(name: .long, help: "HOST:PORT of the gateway; without it the one of the state folder.")
  var gateway: String?

  @Option(
    name: .customLong("ca"), help: "The certificates to trust; without it ca.pem of the state folder.",
    completion: .file())
  var trustPath: String?

  /// The address as it is now: a gateway that restarts may have another port.
  ///
  /// - Parameters:
  ///   - address: an address that was found otherwise, where the person names none.
  ///   - identity: a certificate to show.
  func endpoint(address found: String? = nil, identity: ClientIdentity? = nil) throws -> Client.Endpoint {
    let folder = try state.folder
    guard
      let address = try gateway.map(GatewayOptions.address) ?? found
        ?? firstLine(of: folder.listeningPath).map(GatewayOptions.reachable)
    else {
      try state.checkPermission(of: folder.listeningPath, mode: R_OK)
      throw CommandFailure(
        .unreachable,
        "no gateway runs on \(folder.path): start one with `pushcli serve`, or name one with --gateway"
          + MachineService.hint(besides: folder))
    }
    guard let place = address.lastIndex(of: ":"), let port = Int(address[address.index(after: place)...]),
      (1...65535).contains(port)
    else {
      throw CommandFailure(
        .usage, "\"\(address)\" is not an address: expected HOST:PORT with a port from 1 to 65535, as 127.0.0.1:2197")
    }
    let host = address[..<place].trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
    return .tls(host: host, port: port, trustPath: trustPath ?? folder.trustPath, identity: identity)
  }

  /// Where a gateway of this machine is reached: one that listens on every address has the certificate of loopback.
  static func reachable(_ address: String) -> String {
    for (every, loopback) in [("0.0.0.0:", "127.0.0.1:"), ("[::]:", "[::1]:")] where address.hasPrefix(every) {
      return loopback + address.dropFirst(every.count)
    }
    return address
  }

  /// HOST:PORT, of an address as a browser would write it, too.
  private static func address(_ text: String) throws(CommandFailure) -> String {
    guard let mark = text.range(of: "://") else { return text }
    guard text[..<mark.lowerBound].lowercased() == "https" else {
      throw CommandFailure(.usage, "\"\(text)\" is not an address: a gateway speaks HTTPS alone, as https://HOST:PORT")
    }
    return String(text[mark.upperBound...].prefix { $0 != "/" })
  }

  private func firstLine(of path: String) -> String? {
    FileManager.default.contents(atPath: path).flatMap {
      String(decoding: $0, as: UTF8.self).split(separator: "\n").first.map(String.init)
    }
  }
}

/// The admin socket of a gateway on this machine.
struct Admin {
  private let client: Client
  private let socket: String

  /// - Throws: ``CommandFailure`` when no gateway runs there.
  init(_ options: StateOptions) async throws {
    let folder = try options.folder
    socket = folder.adminSocket
    do {
      client = try await Client.connect(to: .admin(path: folder.adminSocket))
    } catch is ClientError {
      try options.checkPermission(of: folder.adminSocket, mode: R_OK | W_OK)
      throw CommandFailure(
        .unreachable,
        "no gateway runs on \(folder.path): start one with `pushcli serve --state \(folder.path)`"
          + MachineService.hint(besides: folder))
    }
  }

  func get<Value: Decodable>(_ path: String) async throws -> Value { try await call("GET", path, body: []) }

  /// Asks as a device, which has this secret.
  func get<Value: Decodable>(_ path: String, secret: String) async throws -> Value {
    let answer = try await answer("GET", path, [(.authorization, "Bearer " + secret)], body: [])
    return try decodeJSON(Value.self, from: answer.body)
  }

  func post<Value: Decodable>(_ path: String, _ body: some Encodable) async throws -> Value {
    try await call("POST", path, body: Array(try JSONEncoder().encode(body)))
  }

  /// Asks for something that has no answer but that it is done.
  func post(_ path: String) async throws { _ = try await answer("POST", path, body: []) }

  func bytes(_ path: String) async throws -> [UInt8] { try await answer("GET", path, body: []).body }

  func text(_ path: String) async throws -> String {
    String(decoding: try await answer("GET", path, body: []).body, as: UTF8.self)
  }

  /// Hangs up; what waits for an answer fails.
  func close() { client.close() }

  func delete(_ path: String) async throws { _ = try await answer("DELETE", path, body: []) }

  /// Refuses an app that the gateway does not have.
  ///
  /// - Parameter advice: what can be done besides adding it.
  func checkApp(_ topic: String, orSay advice: String? = nil) async throws {
    struct App: Decodable { var topic: String }
    let apps: [App] = try await get("/admin/v1/apps?filter=\(pathPart(topic))")
    guard !apps.contains(where: { $0.topic == topic }) else { return }
    let more = advice.map { ", \($0)" } ?? ""
    throw CommandFailure(
      .suppressed, "there is no app \(topic): `pushcli apps add \(topic) --name NAME` adds it\(more)")
  }

  private func call<Value: Decodable>(_ method: String, _ path: String, body: [UInt8]) async throws -> Value {
    let answer = try await answer(method, path, body: body)
    return try decodeJSON(Value.self, from: answer.body)
  }

  /// Asks on another connection, once: a gateway that starts again ends the first one, and the next program takes the second.
  private func askAgain(_ path: String, _ fields: [(Client.Field, String)]) async throws -> Client.Answer {
    let next = try await Client.connect(to: .admin(path: socket))
    defer { next.close() }
    return try await next.request("GET", path, fields)
  }

  private func answer(
    _ method: String, _ path: String, _ fields: [(Client.Field, String)] = [], body: [UInt8]
  ) async throws -> Client.Answer {
    let answer: Client.Answer
    do {
      answer = try await client.request(method, path, fields, body: body)
    } catch let error as ClientError {
      guard method == "GET", let again = try? await askAgain(path, fields) else { throw CommandFailure(error) }
      answer = again
    }
    guard answer.status < 300 else {
      let problem = try? decodeJSON(ProblemRecord.self, from: answer.body)
      throw CommandFailure(
        CommandFailure.exit(of: answer.status), problem?.detail ?? "the gateway refused with \(answer.status)",
        status: answer.status)
    }
    return answer
  }
}

/// A part of a path, with what a path may not hold escaped.
func pathPart(_ text: String) -> String {
  text.addingPercentEncoding(withAllowedCharacters: .alphanumerics.union(CharacterSet(charactersIn: "-._~"))) ?? text
}
