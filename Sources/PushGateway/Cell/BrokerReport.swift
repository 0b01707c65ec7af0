import HTTP2Transport
import NIOCore
import NIOHTTP1
import NIOPosix
import PushCore
import PushStorage

/// What a broker says of itself on its monitoring port: `GET /varz`.
struct BrokerReport: Decodable, Equatable {
  private struct JetStreamReport: Decodable, Equatable {
    struct Configuration: Decodable, Equatable {
      /// In nanoseconds.
      var interval: Int64?
      var isAlways: Bool?

      enum CodingKeys: String, CodingKey {
        case interval = "sync_interval"
        case isAlways = "sync_always"
      }
    }
    var config: Configuration?
  }

  private var serverName: String?
  private var jetstream: JetStreamReport?

  private enum CodingKeys: String, CodingKey {
    case jetstream
    case serverName = "server_name"
  }

  /// The broker's name.
  var name: String { serverName ?? "a broker without a name" }

  /// When the broker brings what it has to its disk.
  var sync: SyncInterval {
    guard let config = jetstream?.config else { return .unknown }
    if config.isAlways == true { return .always }
    return config.interval.map { .every(seconds: $0 / 1_000_000_000) } ?? .unknown
  }

  /// What an answer holds at most, in bytes.
  private static let maximumSize = 1 << 20
  /// How long an answer is waited for.
  private static let time = TimeAmount.seconds(5)

  /// Asks a broker.
  ///
  /// - Parameter address: its monitoring port, `HOST:PORT`.
  /// - Throws: ``StoreError`` when it is not reached, or answers something else; with `mayPass` for one that may be starting.
  static func read(_ address: String) async throws -> BrokerReport {
    let body: [UInt8]
    do { body = try await fetch(address) } catch {
      throw StoreError(
        "the broker's monitor at \(address) does not answer (\(error)): check the broker's http setting and --nats-monitors",
        mayPass: true)
    }
    do { return try decodeJSON(BrokerReport.self, from: body) } catch {
      throw StoreError(
        "\(address) is not the monitor of a NATS server (\(error)): correct --nats-monitors")
    }
  }

  private static func fetch(_ address: String) async throws -> [UInt8] {
    guard case .tcp(let host, let port) = try Configuration.address(address) else { return [] }
    let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .connectTimeout(time)
      .connect(host: host, port: port) { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHTTPClientHandlers()
          return try NIOAsyncChannel<HTTPClientResponsePart, HTTPClientRequestPart>(
            wrappingChannelSynchronously: channel)
        }
      }
    let deadline = channel.channel.eventLoop.scheduleTask(in: time) { channel.channel.close(promise: nil) }
    defer { deadline.cancel() }
    return try await channel.executeThenClose { inbound, outbound in
      let head = HTTPRequestHead(
        version: .http1_1, method: .GET, uri: "/varz", headers: ["host": address, "connection": "close"])
      try await outbound.write(.head(head))
      try await outbound.write(.end(nil))
      var body: [UInt8] = []
      for try await part in inbound {
        switch part {
        case .head(let head):
          guard head.status == .ok else { throw StoreError("status \(head.status.code)") }
        case .body(let bytes):
          guard body.count + bytes.readableBytes <= maximumSize else { throw StoreError("a response over 1 MB") }
          body += bytes.readableBytesView
        case .end: return body
        }
      }
      throw StoreError("the response is incomplete")
    }
  }
}

/// When a broker brings to its disk what it has acknowledged.
enum SyncInterval: Equatable {
  case always
  case every(seconds: Int64)
  /// Nobody has asked the brokers.
  case unknown

  /// The weakest of several brokers.
  static func weakest(_ intervals: [SyncInterval]) -> SyncInterval {
    guard !intervals.isEmpty, !intervals.contains(.unknown) else { return .unknown }
    let seconds = intervals.compactMap { interval -> Int64? in
      guard case .every(let seconds) = interval else { return nil }
      return seconds
    }
    return seconds.max().map { .every(seconds: $0) } ?? .always
  }
}

extension DurabilityLevel {
  /// What a majority of brokers has.
  static func quorum(_ replicas: Int, _ sync: SyncInterval) -> DurabilityLevel {
    let places = replicas > 1 ? "stored by a majority of \(replicas) brokers" : "stored by one broker"
    let survived =
      replicas > 1
      ? "survives the failure of any gateway and of any one broker's machine"
      : "survives the failure of any gateway and of that broker's process"
    let power = replicas > 1 ? "a power loss of two at once" : "a power loss of its machine"
    let rest =
      switch sync {
      case .always: "; each of them has it on disk: \(power) loses no push"
      case .every(let seconds): "; \(power) can lose the pushes of the last \(seconds) s, the brokers' sync_interval"
      case .unknown:
        "; unless the brokers have sync_interval: always, \(power) can lose the pushes of that interval "
          + "(--nats-monitors lets the gateway read it)"
      }
    return DurabilityLevel(name: replicas > 1 ? "quorum" : "single", words: "\(places): \(survived)\(rest)")
  }

  /// What the brokers of a cell promise, as they say themselves.
  ///
  /// - Parameter monitors: `HOST:PORT` of each broker's monitor; empty: they are not asked.
  /// - Throws: ``StoreError`` when `durability` demands more than they do.
  static func asked(
    of monitors: [String], replicas: Int, durability: Durability
  ) async throws -> DurabilityLevel {
    var intervals: [SyncInterval] = []
    for monitor in monitors {
      let report = try await BrokerReport.read(monitor)
      guard durability != .full || report.sync == .always else {
        throw StoreError(
          "durability: full requires sync_interval: always, but the broker \(report.name) at \(monitor) has another value: "
            + "set it in its jetstream block, or set durability: normal on the gateway")
      }
      intervals.append(report.sync)
    }
    return .quorum(replicas, .weakest(intervals))
  }
}
