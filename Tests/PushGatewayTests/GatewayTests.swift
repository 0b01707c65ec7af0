import Foundation
import Glibc
import HTTP2Transport
import Logging
import PushTesting
import Synchronization
import Testing

@testable import GatewayClient
@testable import GatewayProtocol
@testable import PushCore
@testable import PushGateway

@Suite(.timeLimit(.minutes(5))) struct GatewayTests {
  let folder: TemporaryFolder
  var state: StateFolder { StateFolder(folder.file("state")) }

  init() throws { folder = try TemporaryFolder() }

  func start(_ flags: [String: String] = [:]) async throws -> Gateway {
    var all = ["listen": "127.0.0.1:0", "loops": "2"]
    all.merge(flags) { $1 }
    let configuration = try Configuration(state: state.path, flags: all, file: nil, environment: [:])
    return try await Gateway.start(configuration, logger: .silent)
  }

  func connect(_ gateway: Gateway) async throws -> Client {
    let address = try #require(gateway.addresses.first)
    let port = try #require(Int(address.split(separator: ":")[1]))
    return try await Client.connect(to: .tls(host: "127.0.0.1", port: port, trustPath: state.trustPath))
  }

  @Test func `a first start serves a push from enrollment to a badge`() async throws {
    let gateway = try await start()
    let listening = try String(contentsOfFile: state.listeningPath, encoding: .utf8)
    #expect(listening == gateway.addresses.joined(separator: "\n") + "\n")
    let client = try await connect(gateway)

    let enrollment = try await client.request("POST", "/v1/devices", body: Array(#"{"name":"laptop"}"#.utf8))
    #expect(enrollment.status == 201)
    let device = try JSONDecoder().decode(Enrolled.self, from: Data(enrollment.body))
    let bearer: (HeaderName, String) = (.authorization, "bearer " + device.secret)
    let registration = try await client.request("PUT", "/v1/device/apps/com.example.news", [bearer])
    let token = try #require(JSONDecoder().decode([String: String].self, from: Data(registration.body))["token"])
    let again = try await client.request("PUT", "/v1/device/apps/com.example.news", [bearer])
    #expect(again.body == registration.body)

    let opened = try await client.stream("POST", "/v1/device/stream", [bearer])
    opened.send(#"{"type":"hello"}"#)
    var lines = opened.lines.makeAsyncIterator()
    #expect(try await lines.next().map { TestLine($0).type } == "welcome")
    #expect(try await lines.next().map { TestLine($0).type } == "caught-up")

    let development = try JSONDecoder().decode(
      StateFolder.Development.self, from: Data(contentsOf: URL(fileURLWithPath: state.developmentPath)))
    let key = try ES256Key(privatePEM: Array(Data(contentsOf: URL(fileURLWithPath: development.keyPath))))
    var recipe = TokenRecipe()
    recipe.header = #"{"alg":"ES256","kid":"\#(development.keyID)"}"#
    recipe.claims = #"{"iss":"\#(development.teamID)","iat":\#(WallClock.system.seconds)}"#
    let answer = try await client.request(
      "POST", "/3/device/" + token,
      [(.authorization, "bearer " + (try recipe.text(by: key))), (.apnsTopic, development.topic)],
      body: Array(#"{"aps":{"badge":1}}"#.utf8))
    #expect(answer.status == 200)
    let push = try #require(try await lines.next().map(TestLine.init))
    #expect(push.seq == 1)
    #expect(push.text.contains(#""presentation":{"badge":1}"#))

    await gateway.stop()
    #expect(try await lines.next().map { TestLine($0).json["reason"] as? String } == "shutdown")
    #expect(!FileManager.default.fileExists(atPath: state.listeningPath))
    #expect(!FileManager.default.fileExists(atPath: state.adminSocket))
  }

  @Test func `the admin socket is this user's alone, and the network has no admin`() async throws {
    let gateway = try await start()
    let attributes = try FileManager.default.attributesOfItem(atPath: state.adminSocket)
    #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
    let admin = try await Client.connect(to: .admin(path: state.adminSocket))
    let answer = try await admin.request("GET", "/admin/v1/status")
    let status = try JSONDecoder().decode(GatewayStatus.self, from: Data(answer.body))
    #expect(status.listening == gateway.addresses)
    #expect(status.environment == "development")
    let certificate = try #require(status.certificate)
    #expect(certificate.names.contains("localhost") && certificate.addresses.contains("127.0.0.1"))
    #expect(certificate.issuer == "PushGateway local CA")
    let end = try #require(CertificateExpiry.seconds(ofFile: state.certificatePath))
    #expect(certificate.expires == Timestamp.text(seconds: end))
    let outside = try await connect(gateway)
    #expect(try await outside.request("GET", "/admin/v1/status").status == 403)
    await gateway.stop()
  }

  @Test func `secrets are this user's alone`() async throws {
    let gateway = try await start()
    await gateway.stop()
    for name in try FileManager.default.contentsOfDirectory(atPath: state.path) {
      guard name.hasSuffix(".key") || name.hasSuffix(".p8") || name == "development.json" else { continue }
      let attributes = try FileManager.default.attributesOfItem(atPath: state.path + "/" + name)
      #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600, "\(name)")
    }
  }

  @Test func `it asks to be stopped in good order before any command can find it`() async throws {
    let begun = Mutex<[Bool]>([])
    let configuration = try Configuration(
      state: state.path, flags: ["listen": "127.0.0.1:0"], file: nil, environment: [:])
    let supervisor = Supervisor(begins: { [state] in
      begun.withLock { $0.append(FileManager.default.fileExists(atPath: state.listeningPath)) }
    })
    let gateway = try await Gateway.start(configuration, logger: .silent, supervisor: supervisor)
    #expect(begun.withLock { $0 } == [false])
    await gateway.stop()
  }

  @Test func `a second gateway on the same folder or the same port is refused in one line`() async throws {
    let gateway = try await start()
    func words(_ body: () async throws -> Void) async -> String {
      do {
        try await body()
        return "no failure"
      } catch {
        return "\(error)"
      }
    }
    let same = await words { _ = try await start() }
    #expect(same == "another gateway runs on \(state.path): stop it, or choose another folder with --state DIR")
    let address = try #require(gateway.addresses.first)
    let other = await words {
      let configuration = try Configuration(
        state: folder.file("other"), flags: ["listen": address], file: nil, environment: [:])
      _ = try await Gateway.start(configuration, logger: .silent)
    }
    #expect(other.hasPrefix("can't listen on \(address): it is in use by "))
    #expect(other.contains(" (process \(getpid())): stop the other program"))
    #expect(!FileManager.default.fileExists(atPath: folder.file("other")))
    await gateway.stop()
  }

  @Test func `a client that trusts another authority is told so`() async throws {
    let gateway = try await start()
    let files = try TLSFiles()
    let address = try #require(gateway.addresses.first)
    let port = try #require(Int(address.split(separator: ":")[1]))
    let error = await #expect(throws: ClientError.self) {
      _ = try await Client.connect(to: .tls(host: "127.0.0.1", port: port, trustPath: files.trust))
    }
    #expect(error?.description.contains("the gateway's certificate is not trusted: ") == true)
    await gateway.stop()
    await #expect(throws: ClientError.self) {
      _ = try await Client.connect(to: .tls(host: "127.0.0.1", port: port, trustPath: state.trustPath))
    }
  }
}
