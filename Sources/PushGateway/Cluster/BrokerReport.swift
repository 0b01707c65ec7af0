import GatewayClient
import GatewayProtocol
import HTTP2Transport
import PushCore
import PushStorage

/// The report of a broker on its monitoring port: `GET /varz`.
struct BrokerReport: Decodable, Equatable {
  private struct JetStreamReport: Decodable, Equatable {
    struct Configuration: Decodable, Equatable {
      /// The sync interval in nanoseconds.
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

  var name: String { serverName ?? "a broker without a name" }

  /// The interval at which the broker syncs acknowledged data to its disk.
  var sync: SyncInterval {
    guard let config = jetstream?.config else { return .unknown }
    if config.isAlways == true { return .always }
    return config.interval.map { .every(seconds: $0 / 1_000_000_000) } ?? .unknown
  }

  /// Reads the report of a broker.
  ///
  /// - Parameter address: the broker's monitoring port, `HOST:PORT`.
  /// - Throws: ``StoreError`` if the broker is not reached, or sends another response; with `mayPass` if it may be
  ///   starting.
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
    guard case .tcp(let host, let port) = try SettingAddress.address(address) else { return [] }
    let (status, body) = try await Client.getHTTP1("/varz", of: GatewayAddress(host: host, port: port))
    guard status == 200 else { throw StoreError("status \(status)") }
    return body
  }
}

/// The interval at which a broker syncs acknowledged data to its disk.
enum SyncInterval: Equatable {
  case always
  case every(seconds: Int64)
  /// The brokers were not asked.
  case unknown

  /// Returns the weakest of the brokers' settings.
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
  /// Returns the durability guarantee of data that a majority of brokers has stored.
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

  /// Returns the durability guarantee of the brokers of a cluster, from their own reports.
  ///
  /// - Parameter monitors: `HOST:PORT` of each broker's monitor; empty: the brokers are not asked.
  /// - Throws: ``StoreError`` if `durability` requires more than the brokers guarantee.
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
