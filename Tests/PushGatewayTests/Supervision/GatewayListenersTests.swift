import GatewayProtocol
import Glibc
import HTTP2Transport
import PushCore
import PushTesting
import Testing

@testable import PushGateway

@Suite struct GatewayListenersTests {
  /// Returns the plan of the listeners: entry, environment and the name of the inherited socket.
  func plans(_ listen: String?, _ sockets: [InheritedSockets.Entry]) async throws -> [[String]] {
    let configuration = try Configuration(
      state: "/none", flags: listen.map { ["listen": $0] } ?? [:], file: nil, environment: [:])
    return try await GatewayListeners.plans(configuration, InheritedSockets(sockets)).map { plan in
      let channels = plan.servesChannelsOnly ? "+channels" : ""
      return [plan.entry ?? "-", plan.environmentRule.description + channels, plan.inherited?.name ?? "-"]
    }
  }

  func socket(_ name: String) throws -> (entry: InheritedSockets.Entry, address: String) {
    let socket = try ListeningSocket.bind(.tcp(host: "127.0.0.1", port: 0))
    guard case .tcp(let host, let port)? = socket.address else { throw ConfigurationError(description: "no address") }
    return (InheritedSockets.Entry(name: name, socket: socket), "\(host):\(port)")
  }

  @Test func `without sockets each entry is bound`() async throws {
    #expect(
      try await plans(nil, []) == [["localhost:2197", "development", "-"], ["localhost:2197", "development", "-"]])
    #expect(
      try await plans("127.0.0.1:1=production,[::1]:2=by-name+channels", []) == [
        ["127.0.0.1:1=production", "production", "-"], ["[::1]:2=by-name+channels", "by-name+channels", "-"],
      ])
  }

  @Test func `sockets of the service manager take the place of the default, in the environment of their names`()
    async throws
  {
    let sockets = try [socket("production"), socket("by-name+channels"), socket("pushgateway.socket")].map(\.entry)
    #expect(
      try await plans(nil, sockets) == [
        ["-", "production", "production"], ["-", "by-name+channels", "by-name+channels"],
        ["-", "development", "pushgateway.socket"],
      ])
  }

  @Test func `a socket goes to the entry with its address, and the others are listened on besides`() async throws {
    let (one, other) = try (socket("production"), socket("web"))
    let listen = "127.0.0.1:1,\(one.address)=development"
    #expect(
      try await plans(listen, [one.entry, other.entry]) == [
        ["127.0.0.1:1", "development", "-"], ["\(one.address)=development", "development", "production"],
        ["-", "development", "web"],
      ])
  }

  @Test func `what the gateway before this one had bound goes to its entry, or is let go of`() async throws {
    let entry = "127.0.0.1:0=production"
    let mine = try socket(InheritedSockets.Name.listener(entry)).entry
    let gone = try socket(InheritedSockets.Name.listener("127.0.0.1:9")).entry
    let admin = try socket(InheritedSockets.Name.admin).entry
    #expect(try await plans(entry, [gone, admin, mine]) == [[entry, "production", mine.name]])
    #expect(
      try await plans(nil, [gone, admin]) == [
        ["localhost:2197", "development", "-"], ["localhost:2197", "development", "-"],
      ])
  }

  @Test func `a name stands for all its addresses, each of which takes its own socket back`() async throws {
    let entry = "localhost:0"
    let sockets = try ["::1", "127.0.0.1"].map { host in
      InheritedSockets.Entry(
        name: InheritedSockets.Name.listener(entry), socket: try .bind(.tcp(host: host, port: 0)))
    }
    let configuration = try Configuration(state: "/none", flags: ["listen": entry], file: nil, environment: [:])
    let plans = try await GatewayListeners.plans(configuration, InheritedSockets(sockets))
    #expect(plans.map(\.address) == [.tcp(host: "127.0.0.1", port: 0), .tcp(host: "::1", port: 0)])
    #expect(plans.map { $0.inherited?.socket.address?.host } == ["127.0.0.1", "::1"])
    await #expect(throws: ListenError.self) {
      _ = try await GatewayListeners.plans(
        Configuration(state: "/none", flags: ["listen": "nowhere.invalid:1"], file: nil, environment: [:]),
        InheritedSockets())
    }
  }

  @Test func `the names of sockets have no colon, and two entries have two`() {
    let names = ["127.0.0.1:0", "127.0.0.1%3A0", "[::1]:0=production"].map(InheritedSockets.Name.listener)
    #expect(Set(names).count == 3 && names.allSatisfy { !$0.contains(":") && InheritedSockets.Name.isOwn($0) })
  }

  @Test(arguments: [
    (["LISTEN_FDS": "1", "LISTEN_PID": "2"], nil), (["LISTEN_FDS": "1"], nil), (["GATEWAY_SOCKETS": "2:50=a"], nil),
    (["LISTEN_FDS": "x", "LISTEN_PID": "1"], "LISTEN_FDS is \"x\": expected a number of sockets up to 1000"),
    (
      ["LISTEN_FDS": "2000000000", "LISTEN_PID": "1"],
      "LISTEN_FDS is \"2000000000\": expected a number of sockets up to 1000"
    ),
    (["LISTEN_FDS": "-1", "LISTEN_PID": "1"], "LISTEN_FDS is \"-1\": expected a number of sockets up to 1000"),
    (
      ["GATEWAY_SOCKETS": "1:999999=a"],
      "socket 999999 (a) was announced by systemd or the previous program and is not open: start again"
    ),
    (["GATEWAY_SOCKETS": "1:x=a:0=b:5"], nil),
  ]) func `variables that are meant for another process, or make no sense, hand nothing over`(
    _ variables: [String: String], _ refusal: String?
  ) {
    do {
      #expect(try InheritedSockets.take(variables, process: 1).entries.isEmpty && refusal == nil)
    } catch {
      #expect(error.description == refusal)
    }
  }

  @Test func `what one program keeps open the next one takes`() async throws {
    let entry = try socket("production").entry
    let variables = ["GATEWAY_SOCKETS": "1:\(dup(entry.socket.descriptor))=production"]
    let taken = try InheritedSockets.take(variables, process: 1)
    #expect(taken.entries.map(\.name) == ["production"] && taken.entries[0].socket.address == entry.socket.address)
  }

  @Test(arguments: [true, false]) func `listeners that no longer accept keep their addresses and environments`(
    isHandedOver: Bool
  ) async throws {
    let folder = try TemporaryFolder()
    let configuration = try Configuration(
      state: folder.path, flags: ["listen": "127.0.0.1:0=production"], file: nil, environment: [:])
    try StateFolder(folder.path).prepareCertificates()
    let certificate = try ServerCertificate(StateFolder(folder.path), configuration)
    try await TestGateway.run { gateway in
      let listeners = GatewayListeners(tls: certificate.source, unauthenticated: UnauthenticatedConnections { _, _ in })
      listeners.attach(gateway.loops)
      try await listeners.change(
        to: try await GatewayListeners.plans(configuration, InheritedSockets()), configuration.connectionOptions)
      let (addresses, records) = (listeners.addresses, listeners.records.map(\.environment))
      #expect(addresses.count == 1 && records == ["production"])
      let sockets = await isHandedOver ? listeners.handOver() : []
      await listeners.close()
      #expect(sockets.count == (isHandedOver ? 1 : 0))
      #expect(listeners.addresses == addresses && listeners.records.map(\.environment) == records)
    }
  }
}
