import Foundation
import GatewayProtocol
import HTTP2Transport
import PushCore
import PushStorage
import Yams

/// Every setting of a gateway, its default, its check, and where its value came from.
///
/// A value comes from the flag, else from the environment (`PUSHGATEWAY_…`), else from the file, else it is the default.
package struct Configuration: Sendable {
  /// The state folder.
  package var state: String
  /// `HOST:PORT` of every listener; port 0 picks a free one.
  package var listen: [String] = []
  /// Which keys and device tokens are valid here.
  var environment = Environment.development
  /// Event loops.
  var loops = 1
  /// How many pushes wait for one device before the oldest go.
  var mailboxCap = 10_000
  /// What a 200 promises.
  var durability = Durability.full
  /// Pushes per second for one device token; nil: any number.
  var rateLimit: Int?
  /// How long the delivery log is kept, in days.
  var logRetentionDays = 7
  /// A file of authorities, besides the gateway's own, whose certificates providers may show.
  var clientCA: String?
  /// How long a connection may be silent; nil: for ever.
  var idleTimeout: Duration? = .seconds(7200)
  /// How often a device on an open stream is asked for a sign of life; without one for twice that, it is gone.
  var pingInterval = Limits.pingInterval
  /// Streams a sender may have open before its first push was accepted.
  var initialStreams = Limits.maximumConcurrentStreams
  /// Choices about the provider API.
  var provider = ProviderSettings()
  /// What is logged: `trace` … `critical`.
  package var logLevel = "info"

  /// Every setting's name, effective value and origin, for `serve --check`.
  package private(set) var effective: [Effective] = []

  /// One setting as it is in force.
  package struct Effective: Sendable, Codable {
    package var name: String
    package var value: String
    /// `flag`, `environment`, `file` or `default`.
    package var origin: String
  }

  /// A setting that can't be, in one line.
  package struct Failure: Error, CustomStringConvertible {
    package var description: String
  }

  private static let names = [
    "listen", "environment", "durability", "loops", "mailbox_cap", "rate_limit", "log_retention_days", "log_level",
    "client_ca", "idle_timeout", "ping_interval", "stream_limit", "token_update_interval", "push_type_check",
    "environment_key_reason", "broadcast_feature_reason",
  ]

  private static let maximumLoops = 256

  /// How often idle connections are looked for: often enough for the timeout.
  var idleCheck: Duration {
    min(.seconds(30), max(.milliseconds(100), (idleTimeout ?? .seconds(120)) / 4))
  }

  /// Puts the settings together.
  ///
  /// - Parameters:
  ///   - flags: values given on the command line, by the setting's name.
  ///   - file: the configuration file; nil: `config.yaml` in the state folder, if there is one.
  /// - Throws: ``Failure`` when a value can't be used or the file can't be read.
  package init(
    state: String, flags: [String: String], file: String?, environment variables: [String: String]
  ) throws(Failure) {
    self.state = state
    let file = try Configuration.read(file ?? state + "/config.yaml", isRequired: file != nil)
    if let unknown = file.keys.first(where: { !Configuration.names.contains($0) }) {
      throw Failure(description: "\(unknown) is no setting; there are \(Configuration.names.joined(separator: ", "))")
    }
    for name in Configuration.names {
      let variable = "PUSHGATEWAY_" + name.uppercased()
      if let value = flags[name] {
        try set(name, value, from: "flag")
      } else if let value = variables[variable] {
        try set(name, value, from: "environment")
      } else if let value = file[name] {
        try set(name, value, from: "file")
      } else {
        try set(name, Configuration.defaultValue(name), from: "default")
      }
    }
  }

  /// The state folder that a command means: the flag, else `$PUSHGATEWAY_STATE`, else the XDG data home.
  package static func stateFolder(flag: String?, environment: [String: String]) -> String {
    if let flag { return flag }
    if let state = environment["PUSHGATEWAY_STATE"], !state.isEmpty { return state }
    let home = environment["HOME"] ?? "/tmp"
    let data = environment["XDG_DATA_HOME"].flatMap { $0.isEmpty ? nil : $0 } ?? home + "/.local/share"
    return data + "/pushgateway"
  }

  private static func defaultValue(_ name: String) -> String {
    switch name {
    case "listen": "127.0.0.1:2197"
    case "environment": "development"
    case "durability": "full"
    case "loops": String(min(maximumLoops, ProcessInfo.processInfo.activeProcessorCount))
    case "mailbox_cap": "10000"
    case "rate_limit": "none"
    case "log_retention_days": "7"
    case "client_ca": "none"
    case "idle_timeout": "7200"
    case "ping_interval": "30"
    case "stream_limit": "fixed"
    case "token_update_interval": "1140"
    case "push_type_check": "lenient"
    case "environment_key_reason": Reason.badEnvironmentKeyInToken.rawValue
    case "broadcast_feature_reason": Reason.broadcastFeatureNotEnabled.rawValue
    default: "info"
    }
  }

  private mutating func set(_ name: String, _ value: String, from origin: String) throws(Failure) {
    func number(_ range: ClosedRange<Int>) throws(Failure) -> Int {
      guard let number = Int(value), range.contains(number) else {
        throw Failure(
          description:
            "\(name) is \"\(value)\" (\(origin)): a number from \(range.lowerBound) to \(range.upperBound) is due")
      }
      return number
    }
    func choice<Value>(_ choices: KeyValuePairs<String, Value>) throws(Failure) -> Value {
      guard let chosen = choices.first(where: { $0.key == value }) else {
        throw Failure(
          description: "\(name) is \"\(value)\" (\(origin)): \(choices.map(\.key).joined(separator: " or ")) is due")
      }
      return chosen.value
    }
    switch name {
    case "listen":
      listen = value.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
      for entry in listen { _ = try Configuration.listener(entry, otherwise: environment) }
      if listen.isEmpty { throw Failure(description: "listen is empty: HOST:PORT is due") }
    case "environment":
      guard let chosen = Environment(rawValue: value) else {
        throw Failure(description: "environment is \"\(value)\" (\(origin)): development or production is due")
      }
      environment = chosen
    case "durability":
      guard let chosen = Durability(rawValue: value) else {
        throw Failure(description: "durability is \"\(value)\" (\(origin)): full or normal is due")
      }
      durability = chosen
    case "loops": loops = try number(1...Configuration.maximumLoops)
    case "mailbox_cap": mailboxCap = try number(1...1_000_000)
    case "rate_limit": rateLimit = value == "none" ? nil : try number(1...1_000_000)
    case "log_retention_days": logRetentionDays = try number(0...3650)
    case "client_ca": clientCA = value == "none" ? nil : value
    case "idle_timeout": idleTimeout = value == "none" ? nil : .seconds(try number(1...31_536_000))
    case "ping_interval": pingInterval = .seconds(try number(1...3600))
    case "stream_limit": initialStreams = try choice(["fixed": Limits.maximumConcurrentStreams, "faithful": 1])
    case "token_update_interval": provider.tokenUpdateInterval = Int64(try number(0...3600))
    case "push_type_check": provider.checksPushType = try choice(["lenient": false, "strict": true])
    case "environment_key_reason":
      let reasons = [Reason.badEnvironmentKeyInToken, .badEnvironmentKeyIdInToken]
      provider.environmentKeyReason = try choice([
        reasons[0].rawValue: reasons[0], reasons[1].rawValue: reasons[1],
      ])
    case "broadcast_feature_reason":
      let reasons = [Reason.broadcastFeatureNotEnabled, .featureNotEnabled]
      provider.broadcastFeatureReason = try choice([
        reasons[0].rawValue: reasons[0], reasons[1].rawValue: reasons[1],
      ])
    default:
      guard ["trace", "debug", "info", "notice", "warning", "error", "critical"].contains(value) else {
        throw Failure(description: "log_level is \"\(value)\" (\(origin)): debug, info, warning or error is due")
      }
      logLevel = value
    }
    effective.append(Effective(name: name, value: value, origin: origin))
  }

  /// Whether an entry of `listen` is for the management of broadcast channels alone: `HOST:PORT=production+channels`.
  static func servesChannelsOnly(_ entry: String) -> Bool { entry.hasSuffix(channelsMark) }

  private static let channelsMark = "+channels"

  /// Reads an entry of `listen`: `HOST:PORT`, or with an environment `HOST:PORT=production`, `=development`, `=by-name`,
  /// behind which may be `+channels`.
  ///
  /// - Parameter otherwise: the environment where the entry, or a client's host name, says none.
  static func listener(
    _ entry: String, otherwise: Environment
  ) throws(Failure) -> (Listener.Address, ConnectionOptions.World) {
    let whole = servesChannelsOnly(entry) ? String(entry.dropLast(channelsMark.count)) : entry
    let parts = whole.split(separator: "=", maxSplits: 1).map(String.init)
    let address = try address(parts.first ?? "")
    guard parts.count > 1 else { return (address, .fixed(otherwise)) }
    if parts[1] == "by-name" { return (address, .byHostName(otherwise: otherwise)) }
    guard let environment = Environment(rawValue: parts[1]) else {
      throw Failure(description: "\"\(entry)\": behind = is development, production or by-name, and perhaps +channels")
    }
    return (address, .fixed(environment))
  }

  /// Reads `HOST:PORT`, with brackets round an IPv6 address.
  static func address(_ text: String) throws(Failure) -> Listener.Address {
    let place = text.lastIndex(of: ":")
    guard let place, let port = Int(text[text.index(after: place)...]), (0...65535).contains(port),
      place != text.startIndex
    else { throw Failure(description: "\"\(text)\" is no address: HOST:PORT is due, as 127.0.0.1:2197") }
    let host = text[..<place].trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
    return .tcp(host: host, port: port)
  }

  private static func read(_ path: String, isRequired: Bool) throws(Failure) -> [String: String] {
    guard let data = FileManager.default.contents(atPath: path) else {
      if isRequired { throw Failure(description: "\(path) can't be read: check the name and its permissions") }
      return [:]
    }
    let root: Node?
    do {
      // The values as they are written: what Yams makes of some ends the process, as of a list for a name.
      root = try Yams.compose(yaml: String(decoding: data, as: UTF8.self))
    } catch {
      throw Failure(description: "\(path) is not YAML: \(String(describing: error).split(separator: "\n").first ?? "")")
    }
    guard let root else { return [:] }
    guard let settings = root.mapping else {
      throw Failure(description: "\(path) should hold settings, one `name: value` a line")
    }
    var values: [String: String] = [:]
    for (key, value) in settings {
      guard let name = key.scalar?.string else {
        throw Failure(description: "\(path) should hold settings, one `name: value` a line")
      }
      let words = value.sequence.map { list in list.map(\.scalar?.string) } ?? [value.scalar?.string]
      guard !words.contains(nil) else {
        throw Failure(description: "\(name) in \(path) should be one value, or a list of values")
      }
      values[name] = words.compactMap(\.self).joined(separator: ",")
    }
    return values
  }
}

extension ConnectionOptions.World: CustomStringConvertible {
  var description: String {
    switch self {
    case .fixed(let environment): environment.rawValue
    case .byHostName: "by-name"
    }
  }
}
