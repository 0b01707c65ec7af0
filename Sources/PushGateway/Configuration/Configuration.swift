import Foundation
package import GatewayProtocol
import HTTP2Transport
import PushCluster
import PushCore
import PushStorage

/// All settings of a gateway, with the origin of each value.
///
/// A value comes from the flag, else from the environment (`PUSHGATEWAY_…`), else from the file, else it is the
/// default: the initial value of the property. A setting is a property here and a row of ``settings``; everything
/// else is derived.
package struct Configuration: Sendable, SettingHolder {
  /// The state folder.
  package var state: String

  // The effect and the values of each property are described in its row of ``settings``.
  package var listen = ["localhost:2197"]
  var environment = Environment.development
  var durability = Durability.full
  /// The brokers of a cluster; nil for SQLite in the state folder of a single gateway.
  package var backend: BackendAddress?
  var natsCredentials: String?
  var natsAuthority: String?
  /// The monitoring addresses of the brokers; nil if their sync interval is unknown.
  var natsMonitors: [String]?
  /// The number of partitions and of replicas; nil for the values of an existing cluster, or the defaults.
  var cellPartitions: Int?
  var cellReplicas: Int?
  /// The addresses announced to devices; nil for the addresses of the listeners.
  var advertised: [String]?
  /// The addresses of load balancers; nil for none, so that each connection counts by its own address.
  var balancers: [IPAddress]?
  var loops = min(maximumLoops, ProcessInfo.processInfo.activeProcessorCount)
  var mailboxCap = 10_000
  /// The rate limits for a token, a team and an app; nil for no limit.
  var rateLimit: Int?
  var teamRate: Int?
  var appRate: Int?
  var logRetentionDays = 7
  /// The maximum size of the log; nil for no limit.
  var logMaximumSize: ByteSize? = ByteSize(1 << 30)
  /// The free space below which the gateway warns; nil for no warning.
  var diskWarning: ByteSize? = ByteSize(512 << 20)
  /// The schedule of backups; nil for none.
  var backup: BackupSchedule?
  package var logLevel = "info"
  package var logFormat = LogFormat.auto
  /// A file with additional CAs; nil for the gateway's own CA only.
  var clientCA: String?
  /// The certificate and its key; nil for the state folder's own, which a first start creates. Both or neither.
  package var certificate: String?
  package var certificateKey: String?
  /// The user to switch to; nil for the user who starts the gateway.
  package var user: String?
  /// The time until a silent connection is closed; nil for no limit.
  var idleTimeout: Duration? = .seconds(7200)
  var enrollment = EnrollmentPolicy.openOnLoopback
  /// True if the admin API is served to remote clients with an administrator's credential.
  var isRemotelyAdministered = false
  var pingInterval = Limits.pingInterval
  /// The maximum number of open streams of a sender before its first accepted push.
  var initialStreams = Limits.maximumConcurrentStreams
  /// The addresses that serve health, metrics and messages over HTTP/1.1.
  var httpListen = HTTPListen.automatic
  /// The clients that get the device in a browser.
  var web = WebSetting.loopback
  /// The push services of browsers that may be reached, and the operator's address for them; nil for the page's origin.
  var pushServices = PushServicesSetting.public
  var pushContact: String?
  /// A file with the secret for metrics; nil to serve metrics to this machine only.
  var metricsTokenFile: String?
  var provider = ProviderSettings()

  /// The name, effective value and origin of every setting, for `serve --check`.
  package private(set) var effective: [SettingRecord] = []

  /// The absolute path of the configuration file; nil if there is none.
  package private(set) var file: String?

  /// Warnings about possible mistakes that are not errors, one line each: for `serve --check`, and the log of a
  /// start.
  package private(set) var warnings: [String] = []

  private static let maximumLoops = 256
  private static let names = SettingNames(names: settings.map(\.name), variables: settings.map(\.variable))

  package static let defaults = Configuration()

  private init() { state = "" }

  /// The interval of checks for idle connections, short enough for the timeout.
  var idleCheck: Duration {
    min(.seconds(30), max(.milliseconds(100), (idleTimeout ?? .seconds(120)) / 4))
  }

  /// Merges the settings of all origins.
  ///
  /// - Parameters:
  ///   - flags: the values on the command line, by the setting's name.
  ///   - file: the configuration file; nil for `config.yaml` in the state folder, if it exists.
  /// - Throws: ``ConfigurationError`` if a value is invalid or the file can't be read.
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
        try set(setting, entry.value, from: "file", location: "\(file.path), line \(entry.line)", credentials)
      } else {
        if setting.name == Configuration.enrollmentName, !listensOnLoopbackOnly { enrollment = .invitation }
        note(setting, setting.text(self), from: "default")
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

  /// Copies the values of some settings from another configuration, with their origins.
  mutating func take(_ settings: [Setting<Configuration>], from other: Configuration) {
    for setting in settings { setting.copy(&self, other) }
    let names = Set(settings.map(\.name))
    let taken = other.effective.filter { names.contains($0.name) }
    effective = effective.map { known in taken.first { $0.name == known.name } ?? known }
    file = other.file
  }

  private static func isWithin(_ path: String, _ folder: String) -> Bool {
    func whole(_ path: String) -> String {
      URL(fileURLWithPath: path).standardized.resolvingSymlinksInPath().path + "/"
    }
    return whole(path).hasPrefix(whole(folder))
  }

  /// The setting whose default depends on the listeners, which precede it.
  private static let enrollmentName = "enrollment"

  /// True if only programs on this machine reach the gateway, according to its addresses.
  var listensOnLoopbackOnly: Bool {
    listen.allSatisfy { entry in
      guard case .tcp(let host, _)? = try? SettingAddress.listener(entry, otherwise: environment).0 else {
        return false
      }
      return host == "localhost" || host == "::1" || host.hasPrefix("127.")
    }
  }

  /// Assigns the value of a setting.
  ///
  /// - Parameters:
  ///   - location: the location of the value in words, if it is more specific than the origin.
  ///   - credentials: the folder of systemd's `LoadCredential` files.
  private mutating func set(
    _ setting: Setting<Configuration>, _ value: String, from origin: String, location: String? = nil,
    _ credentials: String?
  ) throws(ConfigurationError) {
    let meant = setting.form == .file ? try Configuration.path(value, of: setting.name, credentials) : value
    guard try setting.assign(&self, meant) else {
      throw ConfigurationError(
        description: "\(setting.name) is \"\(value)\" (\(location ?? origin)): expected \(setting.expected)")
    }
    note(setting, value, from: origin)
  }

  private mutating func note(_ setting: Setting<Configuration>, _ value: String, from origin: String) {
    effective.append(SettingRecord(name: setting.name, value: value, origin: origin, change: setting.change.rawValue))
  }

  /// Returns the path of a file in a setting: `credential:NAME` names a file that systemd provides only to the
  /// service.
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

  /// Returns the state folder of a command: the flag, else `$PUSHGATEWAY_STATE`, else the home folder with a gateway
  /// directly in it, as the service's own user has, else the XDG data home.
  ///
  /// - Throws: ``ConfigurationError`` if there is no home folder: a shared folder is not safe for keys.
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

  /// True if the listeners are configured explicitly.
  var namesListeners: Bool { effective.contains { $0.name == "listen" && $0.origin != "default" } }

  /// The table of settings: one row each, in the order of listings.
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
      HOST:PORT for HTTP/1.1 without TLS, or https://HOST:PORT with TLS and the certificate of listen. For monitors and load \
      balancers: /healthz, /readyz, /v1/health and /metrics; and for messages of senders: /send, /ntfy, /gotify, /hooks, \
      /beat and /webpush; several may be given; none: disabled.
      """),
    Setting(
      "web", \.web, .oneOf([.on, .off, .loopback]),
      """
      The pages in a browser, /phone and /console: for all clients over https (on), for this machine, also over http at \
      http_listen (loopback), or off.
      """),
    Setting(
      "push_services", \.pushServices, .oneOf([.public, .all, .off]),
      """
      Push services of browsers, for devices whose page is closed: those with a public address over https (public), also those \
      on this machine and in private networks (all), or none (off).
      """),
    Setting(
      "push_contact", \.pushContact, .orNone(.contact), default: "none: the address of the page",
      "mailto:ADDRESS or https://…: the operator's address for push services, which they see with each message."),
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
      "cell_partitions", \.cellPartitions, .orNone(.number(ClusterIdentity.partitionRange, of: "streams")),
      "Number of streams for the mailboxes of a new cluster, fixed at its creation; none: 16."),
    Setting(
      "cell_replicas", \.cellReplicas, .orNone(.number(ClusterIdentity.replicaRange, of: "brokers")),
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
    Setting(
      "upstream", \.provider.upstream, .upstream,
      """
      Service that gets the pushes for device tokens that this gateway does not know, with the provider token of their \
      sender: APNs of the environment (apns), another gateway (https://HOST:PORT), or none (off).
      """),
    Setting(
      "upstream_ca", \.provider.upstreamAuthority, .orNone(.file("a PEM file")),
      default: "none: the CAs of the system", "CA of the certificate of upstream, a PEM file."),
  ]
}
