import Foundation
import GatewayProtocol
import HTTP2Transport
import PushCore
import PushStorage
import Yams

/// Every setting of a gateway, and where its value came from.
///
/// A value comes from the flag, else from the environment (`PUSHGATEWAY_…`), else from the file, else it is the default:
/// what the property begins with. A setting is a property here and a row of ``settings``; everything else follows.
package struct Configuration: Sendable {
  /// The state folder.
  package var state: String

  // What each does, and what it may be, is in its row of ``settings``.
  package var listen = ["127.0.0.1:2197"]
  var environment = Environment.development
  var durability = Durability.full
  var loops = min(maximumLoops, ProcessInfo.processInfo.activeProcessorCount)
  var mailboxCap = 10_000
  /// nil: any number.
  var rateLimit: Int?
  var teamRate: Int?
  var appRate: Int?
  var logRetentionDays = 7
  package var logLevel = "info"
  /// nil: the gateway's own authority alone.
  var clientCA: String?
  /// nil: whoever starts it.
  package var user: String?
  /// nil: for ever.
  var idleTimeout: Duration? = .seconds(7200)
  var enrollment = EnrollmentPolicy.openOnLoopback
  var pingInterval = Limits.pingInterval
  /// Streams a sender may have open before its first push was accepted.
  var initialStreams = Limits.maximumConcurrentStreams
  var provider = ProviderSettings()

  /// Every setting's name, effective value and origin, for `serve --check`.
  package private(set) var effective: [Effective] = []

  /// One setting as it is in force.
  package struct Effective: Sendable, Codable {
    package var name: String
    package var value: String
    /// `flag`, `environment`, `file` or `default`.
    package var origin: String
  }

  private static let maximumLoops = 256

  /// What holds where nothing was said.
  package static let defaults = Configuration()

  private init() { state = "" }

  /// How often idle connections are looked for: often enough for the timeout.
  var idleCheck: Duration {
    min(.seconds(30), max(.milliseconds(100), (idleTimeout ?? .seconds(120)) / 4))
  }

  /// Puts the settings together.
  ///
  /// - Parameters:
  ///   - flags: values given on the command line, by the setting's name.
  ///   - file: the configuration file; nil: `config.yaml` in the state folder, if there is one.
  /// - Throws: ``ConfigurationError`` when a value can't be used or the file can't be read.
  package init(
    state: String, flags: [String: String], file: String?, environment variables: [String: String]
  ) throws(ConfigurationError) {
    self.state = state
    let file = try Configuration.read(file ?? state + "/config.yaml", isRequired: file != nil)
    if let unknown = file.keys.first(where: { name in !Configuration.settings.contains { $0.name == name } }) {
      let names = Configuration.settings.map(\.name).joined(separator: ", ")
      throw ConfigurationError(description: "unknown setting \(unknown): expected one of \(names)")
    }
    for setting in Configuration.settings {
      if let value = flags[setting.name] {
        try set(setting, value, from: "flag")
      } else if let value = variables[setting.variable] {
        try set(setting, value, from: "environment")
      } else if let value = file[setting.name] {
        try set(setting, value, from: "file")
      } else {
        if setting.name == Configuration.enrollmentName, !listensOnLoopbackOnly { enrollment = .invitation }
        effective.append(Effective(name: setting.name, value: setting.text(self), origin: "default"))
      }
    }
  }

  /// Its default depends on where the gateway listens, which comes before it.
  private static let enrollmentName = "enrollment"

  /// Whether nobody but programs of this machine reaches the gateway, as far as addresses say.
  var listensOnLoopbackOnly: Bool {
    listen.allSatisfy { entry in
      guard case .tcp(let host, _)? = try? Configuration.listener(entry, otherwise: environment).0 else { return false }
      return host == "localhost" || host == "::1" || host.hasPrefix("127.")
    }
  }

  private mutating func set(_ setting: Setting<Configuration>, _ value: String, from origin: String)
    throws(ConfigurationError)
  {
    guard try setting.assign(&self, value) else {
      throw ConfigurationError(description: "\(setting.name) is \"\(value)\" (\(origin)): expected \(setting.expected)")
    }
    effective.append(Effective(name: setting.name, value: value, origin: origin))
  }

  /// The state folder that a command means: the flag, else `$PUSHGATEWAY_STATE`, else the XDG data home.
  ///
  /// - Throws: ``ConfigurationError`` where there is no home: a folder that everybody shares is no place for keys.
  package static func stateFolder(flag: String?, environment: [String: String]) throws(ConfigurationError) -> String {
    if let flag { return flag }
    if let state = environment["PUSHGATEWAY_STATE"], !state.isEmpty { return state }
    if let data = environment["XDG_DATA_HOME"], !data.isEmpty { return data + "/pushgateway" }
    guard let home = environment["HOME"], !home.isEmpty else {
      throw ConfigurationError(
        description: "there is no $HOME to keep the state in: name a folder with --state DIR or $PUSHGATEWAY_STATE")
    }
    return home + "/.local/share/pushgateway"
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
  ) throws(ConfigurationError) -> (Listener.Address, ConnectionOptions.EnvironmentRule) {
    let whole = servesChannelsOnly(entry) ? String(entry.dropLast(channelsMark.count)) : entry
    let parts = whole.split(separator: "=", maxSplits: 1).map(String.init)
    let address = try address(parts.first ?? "")
    guard parts.count > 1 else { return (address, .fixed(otherwise)) }
    if parts[1] == "by-name" { return (address, .byHostName(otherwise: otherwise)) }
    guard let environment = Environment(rawValue: parts[1]) else {
      throw ConfigurationError(
        description: "\"\(entry)\": expected development, production or by-name behind =, and perhaps +channels")
    }
    return (address, .fixed(environment))
  }

  /// Reads `HOST:PORT`, with brackets round an IPv6 address.
  static func address(_ text: String) throws(ConfigurationError) -> Listener.Address {
    let place = text.lastIndex(of: ":")
    guard let place, let port = Int(text[text.index(after: place)...]), (0...65535).contains(port),
      place != text.startIndex
    else {
      throw ConfigurationError(description: "\"\(text)\" is not an address: expected HOST:PORT, as 127.0.0.1:2197")
    }
    let host = text[..<place].trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
    return .tcp(host: host, port: port)
  }

  private static func read(_ path: String, isRequired: Bool) throws(ConfigurationError) -> [String: String] {
    guard let data = FileManager.default.contents(atPath: path) else {
      if isRequired {
        throw ConfigurationError(description: "\(path) can't be read: check the name and its permissions")
      }
      return [:]
    }
    let root: Node?
    do {
      // The values as they are written: what Yams makes of some ends the process, as of a list for a name.
      root = try Yams.compose(yaml: String(decoding: data, as: UTF8.self))
    } catch {
      throw ConfigurationError(
        description: "\(path) is not YAML: \(String(describing: error).split(separator: "\n").first ?? "")")
    }
    guard let root else { return [:] }
    guard let settings = root.mapping else {
      throw ConfigurationError(description: "\(path) should hold settings, one `name: value` a line")
    }
    var values: [String: String] = [:]
    for (key, value) in settings {
      guard let name = key.scalar?.string else {
        throw ConfigurationError(description: "\(path) should hold settings, one `name: value` a line")
      }
      let words = value.sequence.map { list in list.map(\.scalar?.string) } ?? [value.scalar?.string]
      guard !words.contains(nil) else {
        throw ConfigurationError(description: "\(name) in \(path) should be one value, or a list of values")
      }
      values[name] = words.compactMap(\.self).joined(separator: ",")
    }
    return values
  }
}

extension Configuration: SettingHolder {
  /// The table of settings: a row for each, in the order in which they are listed.
  package static let settings: [Setting<Configuration>] = [
    Setting(
      "listen", \.listen, .listeners,
      """
      HOST:PORT to listen on; several may be given; port 0 picks a free one. HOST:PORT=production, =development or \
      =by-name sets the environment of one.
      """),
    Setting(
      "environment", \.environment, .oneOf([.development, .production]),
      "development or production: whose keys and device tokens are valid."),
    Setting(
      enrollmentName, \.enrollment, .oneOf([.openOnLoopback, .invitation, .admin]),
      default: "open-on-loopback; invitation where a listener is not loopback",
      """
      Who may enroll a device. open-on-loopback: programs on this machine, for new persons; invitation: whoever has \
      one; admin: the admin socket alone.
      """),
    Setting(
      "durability", \.durability, .oneOf([.full, .normal]),
      "What a 200 promises. full: the push is on disk; normal: in the system's cache, lost if that stops."),
    Setting("loops", \.loops, .number(1...maximumLoops), default: "one per core", "Event loops."),
    Setting(
      "mailbox_cap", \.mailboxCap, .number(1...1_000_000, of: "pushes"),
      "Pushes that wait for one device before the oldest go."),
    Setting(
      "rate_limit", \.rateLimit, .orNone(.number(1...1_000_000, of: "pushes a second")),
      "Pushes a second for one device token; more get TooManyRequests."),
    Setting(
      "team_rate", \.teamRate, .orNone(.number(1...1_000_000, of: "pushes a second")),
      "Pushes and broadcasts a second of one team, whatever its connections; more get TooManyRequests."),
    Setting(
      "app_rate", \.appRate, .orNone(.number(1...1_000_000, of: "pushes a second")),
      "Pushes and broadcasts a second for one app; more get TooManyRequests."),
    Setting(
      "log_retention_days", \.logRetentionDays, .number(0...3650, of: "days"),
      "How long the delivery log is kept, in days."),
    Setting(
      "log_level", \.logLevel, .oneOf(["trace", "debug", "info", "notice", "warning", "error", "critical"]),
      "What is logged: debug, info, warning or error."),
    Setting(
      "client_ca", \.clientCA, .orNone(.file("a PEM file")),
      "Further authorities whose certificates senders may show, a PEM file."),
    Setting(
      "user", \.user, .orNone(.word("the name of a user")),
      "Whom a gateway that root starts becomes once its ports are bound, or none."),
    Setting(
      "idle_timeout", \.idleTimeout, .orNone(.seconds(1...31_536_000)), "Seconds a silent connection is kept, or none."),
    Setting(
      "ping_interval", \.pingInterval, .seconds(1...3600),
      "Seconds between a device's signs of life; without one for twice that it is gone."),
    Setting(
      "stream_limit", \.initialStreams, .choice(["fixed": Limits.maximumConcurrentStreams, "faithful": 1]),
      "fixed: 1000 streams at once; faithful: 1, and 1000 with the first accepted push."),
    Setting(
      "token_update_interval", \.provider.tokenUpdateInterval, .number(0...3600, of: "seconds"),
      "Seconds before a connection may change its provider token; 0: at any time."),
    Setting(
      "push_type_check", \.provider.checksPushType, .choice(["lenient": false, "strict": true]),
      "strict: a push type must fit the topic's suffix and the priority."),
    Setting(
      "environment_key_reason", \.provider.environmentKeyReason,
      .oneOf([.badEnvironmentKeyInToken, .badEnvironmentKeyIdInToken]), "What a key of the other environment gets."),
    Setting(
      "broadcast_feature_reason", \.provider.broadcastFeatureReason,
      .oneOf([.broadcastFeatureNotEnabled, .featureNotEnabled]), "What an app that may not broadcast gets."),
  ]
}

extension SettingType<[String]> {
  /// Entries of `listen`, with commas between them.
  static var listeners: Self {
    SettingType(
      expected: "HOST:PORT, several with commas between them", form: .list,
      read: { (text) throws(ConfigurationError) in
        let entries = text.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        for entry in entries { _ = try Configuration.listener(entry, otherwise: .development) }
        return entries.isEmpty ? nil : entries
      },
      text: { $0.joined(separator: ",") })
  }
}

extension ConnectionOptions.EnvironmentRule: CustomStringConvertible {
  var description: String {
    switch self {
    case .fixed(let environment): environment.rawValue
    case .byHostName: "by-name"
    }
  }
}
