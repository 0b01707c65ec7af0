import Foundation
import GatewayProtocol
import HTTP2Transport
import PushCluster
import PushCore
import PushStorage

/// Every setting of a gateway, and where its value came from.
///
/// A value comes from the flag, else from the environment (`PUSHGATEWAY_…`), else from the file, else it is the default:
/// what the property begins with. A setting is a property here and a row of ``settings``; everything else follows.
package struct Configuration: Sendable {
  /// The state folder.
  package var state: String

  // What each does, and what it may be, is in its row of ``settings``.
  package var listen = ["localhost:2197"]
  var environment = Environment.development
  var durability = Durability.full
  /// nil: SQLite in the state folder, of a gateway that is alone.
  package var backend: BackendAddress?
  var natsCredentials: String?
  var natsAuthority: String?
  /// nil: what the brokers bring to their disks is not known.
  var natsMonitors: [String]?
  /// nil: as the cell was made, or as is usual.
  var cellPartitions: Int?
  var cellReplicas: Int?
  /// nil: where it listens.
  var advertised: [String]?
  /// nil: none, each connection is that of its own address.
  var balancers: [IPAddress]?
  var loops = min(maximumLoops, ProcessInfo.processInfo.activeProcessorCount)
  var mailboxCap = 10_000
  /// nil: any number.
  var rateLimit: Int?
  var teamRate: Int?
  var appRate: Int?
  var logRetentionDays = 7
  /// nil: any size.
  var logMaximumSize: ByteSize? = ByteSize(1 << 30)
  /// nil: nobody is warned.
  var diskWarning: ByteSize? = ByteSize(512 << 20)
  /// nil: none are made.
  var backup: BackupSchedule?
  package var logLevel = "info"
  package var logFormat = LogFormat.auto
  /// nil: the gateway's own authority alone.
  var clientCA: String?
  /// nil: the state folder's own, which a first start makes. Both or neither.
  package var certificate: String?
  package var certificateKey: String?
  /// nil: whoever starts it.
  package var user: String?
  /// nil: for ever.
  var idleTimeout: Duration? = .seconds(7200)
  var enrollment = EnrollmentPolicy.openOnLoopback
  /// Whether the admin API is served to whoever shows an administrator's credential.
  var isRemotelyAdministered = false
  var pingInterval = Limits.pingInterval
  /// Streams a sender may have open before its first push was accepted.
  var initialStreams = Limits.maximumConcurrentStreams
  /// Where health and metrics are served over HTTP/1.1.
  var httpListen = HTTPListen.automatic
  /// nil: metrics are for this machine alone.
  var metricsTokenFile: String?
  var provider = ProviderSettings()

  /// Every setting's name, effective value and origin, for `serve --check`.
  package private(set) var effective: [Effective] = []

  /// The absolute path of the configuration file; nil: there is none.
  package private(set) var file: String?

  /// What may be a mistake and is none yet, a line each: for `serve --check`, and the log of a start.
  package private(set) var warnings: [String] = []

  /// One setting as it is in force.
  package struct Effective: Sendable, Codable {
    package var name: String
    package var value: String
    /// `flag`, `environment`, `file` or `default`.
    package var origin: String
    package var change: SettingChange

    fileprivate init(_ setting: Setting<Configuration>, _ value: String, from origin: String) {
      (name, self.value, self.origin, change) = (setting.name, value, origin, setting.change)
    }
  }

  private static let maximumLoops = 256
  private static let names = SettingNames(names: settings.map(\.name), variables: settings.map(\.variable))

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
    let file = try ConfigurationFile(file ?? state + "/config.yaml", isRequired: file != nil)
    self.file = file.isThere ? URL(fileURLWithPath: file.path).path : nil
    try Configuration.names.refuseUnknown(in: file)
    warnings = Configuration.names.warnings(about: variables)
    for setting in Configuration.settings {
      let credentials = variables["CREDENTIALS_DIRECTORY"]
      if let value = flags[setting.name] {
        try set(setting, value, from: "flag", credentials)
      } else if let value = variables[setting.variable] {
        try set(setting, value, from: "environment", credentials)
      } else if let entry = file.entries[setting.name] {
        try set(setting, entry.value, from: "file", place: "\(file.path), line \(entry.line)", credentials)
      } else {
        if setting.name == Configuration.enrollmentName, !listensOnLoopbackOnly { enrollment = .invitation }
        effective.append(Effective(setting, setting.text(self), from: "default"))
      }
    }
    guard (certificate == nil) == (certificateKey == nil) else {
      throw ConfigurationError(
        description: "certificate and certificate_key belong together: expected both, or none for the gateway's own")
    }
    if let folder = backup?.folder, Configuration.isWithin(folder, state) {
      throw ConfigurationError(
        description:
          "the backup folder \(folder) is inside the state folder, so each backup would contain the earlier ones: "
          + "expected a folder outside of it")
    }
  }

  /// Takes the values of some settings over from another configuration, with where they came from.
  mutating func take(_ settings: [Setting<Configuration>], from other: Configuration) {
    for setting in settings { setting.copy(&self, other) }
    let names = Set(settings.map(\.name))
    let taken = other.effective.filter { names.contains($0.name) }
    effective = effective.map { known in taken.first { $0.name == known.name } ?? known }
    file = other.file
  }

  /// Whether a path leads into a folder.
  private static func isWithin(_ path: String, _ folder: String) -> Bool {
    func whole(_ path: String) -> String {
      URL(fileURLWithPath: path).standardized.resolvingSymlinksInPath().path + "/"
    }
    return whole(path).hasPrefix(whole(folder))
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

  /// - Parameters:
  ///   - place: where it was written, in words, if there is more to say than the origin.
  ///   - credentials: where systemd has put what `LoadCredential` names.
  private mutating func set(
    _ setting: Setting<Configuration>, _ value: String, from origin: String, place: String? = nil,
    _ credentials: String?
  ) throws(ConfigurationError) {
    let meant = setting.form == .file ? try Configuration.path(value, of: setting.name, credentials) : value
    guard try setting.assign(&self, meant) else {
      throw ConfigurationError(
        description: "\(setting.name) is \"\(value)\" (\(place ?? origin)): expected \(setting.expected)")
    }
    effective.append(Effective(setting, value, from: origin))
  }

  /// The path of a file that a setting names: `credential:NAME` is one that systemd hands to the service alone.
  private static func path(
    _ value: String, of setting: String, _ credentials: String?
  ) throws(ConfigurationError) -> String {
    let mark = "credential:"
    guard value.hasPrefix(mark) else { return value }
    let name = String(value.dropFirst(mark.count))
    guard !name.isEmpty, !name.contains("/"), name != ".", name != ".." else {
      throw ConfigurationError(
        description: "\(setting) is \"\(value)\": expected credential:NAME, a name of LoadCredential= without a slash")
    }
    guard let credentials, !credentials.isEmpty else {
      throw ConfigurationError(
        description:
          "\(setting) is \"\(value)\", and $CREDENTIALS_DIRECTORY is not set: give the unit LoadCredential=\(name):PATH"
      )
    }
    return credentials + "/" + name
  }

  /// The state folder that a command means: the flag, else `$PUSHGATEWAY_STATE`, else the home of a user who has a gateway
  /// right there, as the service's own has, else the XDG data home.
  ///
  /// - Throws: ``ConfigurationError`` where there is no home: a folder that everybody shares is no place for keys.
  package static func stateFolder(flag: String?, environment: [String: String]) throws(ConfigurationError) -> String {
    if let flag { return flag }
    if let state = environment["PUSHGATEWAY_STATE"], !state.isEmpty { return state }
    if let data = environment["XDG_DATA_HOME"], !data.isEmpty { return data + "/pushgateway" }
    guard let home = environment["HOME"], !home.isEmpty else {
      throw ConfigurationError(
        description: "$HOME is not set: name a state folder with --state DIR or $PUSHGATEWAY_STATE")
    }
    if FileManager.default.fileExists(atPath: StateFolder(home).databasePath) { return home }
    return home + "/.local/share/pushgateway"
  }

  /// Whether an entry of `listen` is for the management of broadcast channels alone: `HOST:PORT=production+channels`.
  static func servesChannelsOnly(_ entry: String) -> Bool { entry.hasSuffix(channelsMark) }

  static let channelsMark = "+channels"

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
    guard let rule = environmentRule(parts[1], otherwise: otherwise) else {
      throw ConfigurationError(
        description:
          "invalid address \"\(entry)\": expected development, production or by-name after =, optionally with +channels"
      )
    }
    return (address, rule)
  }

  /// Reads `production`, `development` or `by-name`; nil for any other word.
  static func environmentRule(_ word: String, otherwise: Environment) -> ConnectionOptions.EnvironmentRule? {
    word == "by-name" ? .byHostName(otherwise: otherwise) : Environment(rawValue: word).map { .fixed($0) }
  }

  /// Whether somebody has said where to listen.
  var namesListeners: Bool { effective.contains { $0.name == "listen" && $0.origin != "default" } }

  /// Reads addresses of brokers with commas between them; the first says the scheme of those that name none.
  static func brokers(_ text: String) -> BackendAddress? {
    var servers: [String] = []
    var scheme: String?
    for entry in text.split(separator: ",") {
      let parts = entry.trimmingCharacters(in: .whitespaces).components(separatedBy: "://")
      if parts.count == 2 { scheme = parts[0] }
      guard let scheme, ["nats", "tls"].contains(scheme), parts.count <= 2, let place = parts.last,
        (try? address(place)) != nil
      else { return nil }
      servers.append("\(scheme)://\(place)")
    }
    return servers.isEmpty ? nil : BackendAddress(servers: servers)
  }

  /// Reads `HOST:PORT`, with brackets round an IPv6 address.
  static func address(_ text: String) throws(ConfigurationError) -> Listener.Address {
    let place = text.lastIndex(of: ":")
    guard let place, let port = Int(text[text.index(after: place)...]), (0...65535).contains(port),
      place != text.startIndex
    else {
      throw ConfigurationError(description: "invalid address \"\(text)\": expected HOST:PORT, as 127.0.0.1:2197")
    }
    let host = text[..<place].trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
    return .tcp(host: host, port: port)
  }
}

extension Configuration: SettingHolder {
  /// The table of settings: a row for each, in the order in which they are listed.
  package static let settings: [Setting<Configuration>] = [
    Setting(
      "listen", \.listen, .listeners, change: .reload,
      """
      HOST:PORT to listen on; several may be given; port 0 picks a free one. A host name stands for all its addresses. \
      HOST:PORT=production, =development or =by-name sets the environment of one.
      """),
    Setting(
      "http_listen", \.httpListen, .httpListen,
      default: "127.0.0.1:2198, or a free port of 127.0.0.1 where that is taken",
      """
      HOST:PORT for HTTP/1.1 without TLS, for monitors and load balancers: /healthz, /readyz, /v1/health and /metrics; \
      several may be given; none: disabled.
      """),
    Setting(
      MetricsToken.setting, \.metricsTokenFile, .orNone(.file("a file with one line, mode 600")),
      "File with the secret for reading /metrics from other machines; none: /metrics is limited to this machine."),
    Setting(
      "environment", \.environment, .oneOf([.development, .production]),
      "APNs environment of accepted keys and device tokens: development or production."),
    Setting(
      enrollmentName, \.enrollment, .oneOf([.openOnLoopback, .invitation, .admin]),
      default: "open-on-loopback; invitation where a listener is not loopback",
      """
      Permission to enroll a device. open-on-loopback: programs on this machine, for new users; invitation: clients with \
      an invitation; admin: the admin socket only.
      """),
    Setting(
      "remote_admin", \.isRemotelyAdministered, .choice(["off": false, "on": true]), change: .reload,
      """
      on: administration from other machines with an administrator's token, or with the secret of a device that has the role \
      reader, operator or admin; off: the admin socket only.
      """),
    Setting(
      "durability", \.durability, .oneOf([.full, .normal]),
      "Durability of a push answered 200. full: on disk; normal: in the OS cache, lost on a crash of the machine."),
    Setting(
      "backend", \.backend, .orNone(.backend),
      """
      nats://HOST:PORT, several separated by commas: brokers of a NATS cluster with JetStream, which connect several gateways \
      into one cluster; none: a single gateway, which keeps everything in its state folder.
      """),
    Setting(
      "nats_creds", \.natsCredentials, .orNone(.file("a credentials file")),
      "Credentials of this gateway for the brokers, a file as nsc writes it."),
    Setting(
      "nats_ca", \.natsAuthority, .orNone(.file("a PEM file")),
      "CA of the brokers' certificates for tls://HOST:PORT, a PEM file."),
    Setting(
      "nats_monitors", \.natsMonitors, .orNone(.addresses),
      """
      HOST:PORT of each broker's monitoring port (its `http` setting), from which sync_interval is read. \
      durability: full requires sync_interval: always.
      """),
    Setting(
      "cell_partitions", \.cellPartitions, .orNone(.number(CellIdentity.partitionRange, of: "streams")),
      "Number of streams for the mailboxes of a new cluster, fixed at its creation; none: 16."),
    Setting(
      "cell_replicas", \.cellReplicas, .orNone(.number(CellIdentity.replicaRange, of: "brokers")),
      "Number of brokers that store each stream of a new cluster; none: 3. With 1, data lost by a broker is lost."),
    Setting(
      "advertise", \.advertised, .orNone(.addresses), default: "none: the addresses of listen",
      "HOST:PORT under which the devices of a cluster reach this gateway; several may be given."),
    Setting(
      "balancers", \.balancers, .orNone(.ipAddresses),
      """
      IP addresses of TCP balancers in front of listen: connections from them must begin with a header of PROXY protocol \
      version 2; limits apply to the client address in that header. On http_listen the header is optional.
      """),
    Setting("loops", \.loops, .number(1...maximumLoops), default: "one per core", "Event loops."),
    Setting(
      "mailbox_cap", \.mailboxCap, .number(1...1_000_000, of: "pushes"),
      "Maximum pending pushes per device; then the oldest is evicted."),
    Setting(
      "rate_limit", \.rateLimit, .orNone(.number(1...1_000_000, of: "pushes a second")), change: .reload,
      "Maximum pushes per second for one device token; further ones get TooManyRequests."),
    Setting(
      "team_rate", \.teamRate, .orNone(.number(1...1_000_000, of: "pushes a second")), change: .reload,
      "Maximum pushes and broadcasts per second of one team on all its connections; further ones get TooManyRequests."),
    Setting(
      "app_rate", \.appRate, .orNone(.number(1...1_000_000, of: "pushes a second")), change: .reload,
      "Maximum pushes and broadcasts per second for one app; further ones get TooManyRequests."),
    Setting(
      "log_retention_days", \.logRetentionDays, .number(0...3650, of: "days"), change: .reload,
      "Days for which the delivery log is kept."),
    Setting(
      "log_max_size", \.logMaximumSize, .orNone(.size(16 << 20...64 << 40)), change: .reload,
      "Maximum size of the delivery log's file: the oldest rows are deleted, and their disk space is freed."),
    Setting(
      "backup", \.backup, .orNone(.backupSchedule), change: .reload,
      "Scheduled backups, in UTC: each is restored as a test before the oldest is deleted."),
    Setting(
      "disk_warning", \.diskWarning, .orNone(.size(1 << 20...64 << 40)), change: .reload,
      "Free space on the state folder's disk below which health and the log warn, before pushes are refused."),
    Setting(
      "log_level", \.logLevel, .oneOf(["trace", "debug", "info", "notice", "warning", "error", "critical"]),
      change: .reload,
      "Minimum log level. debug logs every stage of every push."),
    Setting(
      "log_format", \.logFormat, .oneOf([.auto, .logfmt, .json, .journald]),
      "Format of the log. auto: journald's fields where systemd reads it, else logfmt, one line per event."),
    Setting(
      "client_ca", \.clientCA, .orNone(.file("a PEM file")), change: .reload,
      "Additional CAs for the client certificates of senders, a PEM file."),
    Setting(
      "certificate", \.certificate, .orNone(.file("a PEM file")), change: .reload,
      "Server certificate and its chain, a PEM file; none: a certificate from the gateway's own CA."),
    Setting(
      "certificate_key", \.certificateKey, .orNone(.file("a PEM file")), change: .reload,
      "Private key of certificate, a PEM file."),
    Setting(
      "user", \.user, .orNone(.word("the name of a user")),
      "User to switch to after binding ports, when started as root; or none."),
    Setting(
      "idle_timeout", \.idleTimeout, .orNone(.seconds(1...31_536_000)),
      "Seconds until a silent connection is closed, or none."),
    Setting(
      "ping_interval", \.pingInterval, .seconds(1...3600),
      "Seconds between PINGs to a device; after twice that time without data from it, its connection is closed."),
    Setting(
      "stream_limit", \.initialStreams, .choice(["fixed": Limits.maximumConcurrentStreams, "faithful": 1]),
      "fixed: 1000 concurrent streams; faithful: 1, and 1000 after the first accepted push."),
    Setting(
      "token_update_interval", \.provider.tokenUpdateInterval, .number(0...3600, of: "seconds"),
      "Seconds before a connection may change its provider token; 0: at any time."),
    Setting(
      "push_type_check", \.provider.checksPushType, .choice(["lenient": false, "strict": true]),
      "strict: a push type must fit the topic's suffix and the priority."),
    Setting(
      "environment_key_reason", \.provider.environmentKeyReason,
      .oneOf([.badEnvironmentKeyInToken, .badEnvironmentKeyIdInToken]),
      "Reason in the response to a key of the other environment."),
    Setting(
      "broadcast_feature_reason", \.provider.broadcastFeatureReason,
      .oneOf([.broadcastFeatureNotEnabled, .featureNotEnabled]),
      "Reason in the response to a broadcast of an app that may not broadcast."),
  ]
}

extension SettingType<BackendAddress> {
  /// Brokers of a cluster.
  static var backend: Self {
    SettingType(
      expected: "nats://HOST:PORT or tls://HOST:PORT, several separated by commas",
      read: Configuration.brokers, text: { $0.text })
  }
}

extension SettingType<[IPAddress]> {
  /// Addresses of IP, with commas between several.
  static var ipAddresses: Self {
    SettingType(
      expected: "an IP address, several separated by commas", form: .list, shape: .list,
      read: { text in
        let entries = text.split(separator: ",").map { IPAddress($0.trimmingCharacters(in: .whitespaces)) }
        let addresses = entries.compactMap(\.self)
        return entries.isEmpty || addresses.count < entries.count ? nil : addresses
      },
      text: { $0.map(\.description).joined(separator: ",") })
  }
}

extension SettingType<[String]> {
  /// `HOST:PORT`, with commas between several.
  static var addresses: Self {
    SettingType(
      expected: "HOST:PORT, several separated by commas", form: .list, shape: .list,
      read: { (text) throws(ConfigurationError) in
        let entries = text.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        for entry in entries { _ = try Configuration.address(entry) }
        return entries.isEmpty ? nil : entries
      },
      text: { $0.joined(separator: ",") })
  }

  /// Entries of `listen`, with commas between them.
  static var listeners: Self {
    SettingType(
      expected: "HOST:PORT, several separated by commas", form: .list, shape: .list,
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
