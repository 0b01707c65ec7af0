import PushTesting
import Testing

@testable import GatewayProtocol
@testable import HTTP2Transport
@testable import PushCore
@testable import PushGateway

@Suite struct ConfigurationTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  func configuration(
    flags: [String: String] = [:], yaml: String? = nil, environment: [String: String] = [:]
  ) throws -> Configuration {
    if let yaml { _ = try folder.write(yaml.utf8, "config.yaml") }
    return try Configuration(state: folder.path, flags: flags, file: nil, environment: environment)
  }

  func failure(_ body: () throws -> Void) -> String {
    do {
      try body()
      return "no failure"
    } catch {
      return "\(error)"
    }
  }

  @Test func `aliases that stand for a large document are refused before they are followed`() {
    let lists = (1...4).map {
      "b\($0): &b\($0) [" + Array(repeating: "*b\($0 - 1)", count: 10).joined(separator: ",") + "]"
    }
    let bomb = (["b0: &b0 [x,x,x,x,x,x,x,x,x,x]"] + lists + ["? *b4", ": y"]).joined(separator: "\n")
    let words = failure { _ = try configuration(yaml: bomb) }
    #expect(words.hasSuffix("has more than 16 aliases (`*name`): write their values in place of them"))
  }

  @Test func `with nothing said the defaults hold`() throws {
    let configuration = try configuration()
    #expect(configuration.listen == ["localhost:2197"])
    #expect(configuration.environment == .development)
    #expect(configuration.mailboxCap == 10_000)
    #expect(configuration.rateLimit == nil)
    #expect(configuration.logRetentionDays == 7)
    #expect(configuration.logLevel == "info")
    #expect(configuration.loops >= 1)
    #expect(configuration.effective.allSatisfy { $0.origin == "default" })
    #expect(configuration.effective.map(\.name) == Configuration.settings.map(\.name))
  }

  @Test(
    arguments: [
      ("127.0.0.1:1", "open-on-loopback"), ("localhost:1", "open-on-loopback"), ("[::1]:1", "open-on-loopback"),
      ("127.0.0.1:1,[::1]:2=production", "open-on-loopback"), ("0.0.0.0:1", "invitation"), ("[::]:1", "invitation"),
      ("127.0.0.1:1,10.0.0.1:1", "invitation"), ("gateway.example.com:1", "invitation"),
    ])
  func `whoever is reached from elsewhere asks for invitations`(_ listen: String, _ enrollment: String) throws {
    let configuration = try configuration(flags: ["listen": listen])
    #expect(configuration.enrollment.rawValue == enrollment)
    #expect(configuration.effective.first { $0.name == "enrollment" }?.value == enrollment)
    let chosen = try self.configuration(flags: ["listen": listen, "enrollment": "admin"])
    #expect(chosen.enrollment == .admin)
  }

  static let settings = [
    ("listen", "127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:3", "localhost:2197"),
    ("environment", "production", "production", "production", "development"),
    ("enrollment", "admin", "invitation", "open-on-loopback", "open-on-loopback"),
    ("mailbox_cap", "1", "2", "3", "10000"),
    ("rate_limit", "1", "2", "3", "none"), ("team_rate", "1", "2", "3", "none"), ("app_rate", "1", "2", "3", "none"),
    ("log_retention_days", "1", "2", "3", "7"),
    ("log_level", "debug", "warning", "error", "info"), ("durability", "normal", "normal", "normal", "full"),
    ("loops", "1", "2", "3", nil), ("client_ca", "/a", "/b", "/c", "none"), ("idle_timeout", "1", "2", "3", "7200"),
    ("ping_interval", "1", "2", "3", "30"), ("stream_limit", "faithful", "faithful", "faithful", "fixed"),
    ("token_update_interval", "1", "2", "3", "1140"), ("push_type_check", "strict", "strict", "strict", "lenient"),
    (
      "environment_key_reason", "BadEnvironmentKeyIdInToken", "BadEnvironmentKeyIdInToken",
      "BadEnvironmentKeyIdInToken",
      "BadEnvironmentKeyInToken"
    ),
  ]

  @Test(arguments: settings)
  func `a flag comes before the environment, that before the file, and that before the default`(
    _ name: String, _ flag: String, _ variable: String, _ file: String, _ normal: String?
  ) throws {
    func effective(_ configuration: Configuration) throws -> [String] {
      let setting = try #require(configuration.effective.first { $0.name == name })
      return [setting.value, setting.origin]
    }
    let environment = ["PUSHGATEWAY_" + name.uppercased(): variable]
    if let normal { #expect(try effective(configuration()) == [normal, "default"]) }
    let yaml = "\(name): \(file)\n"
    #expect(try effective(configuration(yaml: yaml)) == [file, "file"])
    #expect(try effective(configuration(environment: environment)) == [variable, "environment"])
    #expect(try effective(configuration(flags: [name: flag], environment: environment)) == [flag, "flag"])
  }

  @Test func `settings that are taken over come with their origin, and others stay`() throws {
    var running = try configuration(flags: ["mailbox_cap": "20"])
    #expect(running.file == nil)
    let read = try configuration(yaml: "mailbox_cap: 30\nrate_limit: 7\n")
    running.take(Configuration.settings.filter { $0.change == .reload }, from: read)
    #expect((running.mailboxCap, running.rateLimit) == (20, 7))
    func shown(_ name: String) -> String? {
      running.effective.first { $0.name == name }.map { "\($0.value) \($0.origin)" }
    }
    #expect((shown("mailbox_cap"), shown("rate_limit")) == ("20 flag", "7 file"))
    #expect(running.effective.map(\.name) == Configuration.settings.map(\.name))
    #expect(running.file == folder.path + "/config.yaml")
  }

  @Test func `values are put into force`() throws {
    let configuration = try configuration(
      flags: ["listen": "127.0.0.1:0, [::1]:2197"],
      yaml:
        "environment: production\nloops: 3\nmailbox_cap: 77\nrate_limit: 5\nlog_retention_days: 0\nlog_level: debug\n")
    #expect(configuration.listen == ["127.0.0.1:0", "[::1]:2197"])
    #expect(configuration.environment == .production)
    #expect(configuration.loops == 3)
    #expect(configuration.pingInterval == .seconds(30))
    #expect(configuration.mailboxCap == 77)
    #expect(configuration.rateLimit == 5)
    #expect(configuration.logRetentionDays == 0)
    #expect(configuration.logLevel == "debug")
  }

  @Test func `settings of the provider API are put into force`() throws {
    let configuration = try configuration(
      yaml: """
        client_ca: /etc/ca.pem
        idle_timeout: none
        stream_limit: faithful
        token_update_interval: 0
        push_type_check: strict
        environment_key_reason: BadEnvironmentKeyIdInToken
        """)
    #expect(configuration.clientCA == "/etc/ca.pem")
    #expect(configuration.idleTimeout == nil)
    #expect(configuration.initialStreams == 1)
    #expect(configuration.provider.tokenUpdateInterval == 0)
    #expect(configuration.provider.checksPushType)
    #expect(configuration.provider.environmentKeyReason == .badEnvironmentKeyIdInToken)
    let normal = try self.configuration(flags: ["idle_timeout": "2", "client_ca": "none"], yaml: "")
    #expect(normal.idleTimeout == .seconds(2))
    #expect(normal.idleCheck == .milliseconds(500))
    #expect(normal.clientCA == nil)
    #expect(normal.initialStreams == 1000)
    #expect(
      failure { _ = try self.configuration(flags: ["stream_limit": "2"]) }
        == #"stream_limit is "2" (flag): expected fixed or faithful"#)
  }

  @Test(
    arguments: [
      ("127.0.0.1:1", .fixed(.development)), ("127.0.0.1:1=production", .fixed(.production)),
      ("127.0.0.1:1=development", .fixed(.development)), ("127.0.0.1:1=production+channels", .fixed(.production)),
      ("127.0.0.1:1+channels", .fixed(.development)), ("[::1]:1=by-name", .byHostName(otherwise: .development)),
    ] as [(String, ConnectionOptions.EnvironmentRule)])
  func `a listener's environment stands behind its address`(
    _ entry: String, _ environmentRule: ConnectionOptions.EnvironmentRule
  ) throws {
    #expect(try SettingAddress.listener(entry, otherwise: .development).1 == environmentRule)
    #expect(SettingAddress.servesChannelsOnly(entry) == entry.contains("channels"))
    #expect(failure { _ = try configuration(flags: ["listen": entry + "=x"]) } != "no failure")
  }

  @Test(
    arguments: [
      ("api.push.apple.com", .production), ("api.sandbox.push.apple.com", .development),
      ("api.development.push.apple.com", .development), ("API.PUSH.example", .production), ("localhost", nil),
      ("push.example.com", nil), ("api.example.com", nil), ("api.push", nil), ("", nil),
    ] as [(String, PushCore.Environment?)])
  func `a host name says which environment is meant`(_ name: String, _ environment: PushCore.Environment?) {
    #expect(Environment.named(by: name) == environment)
    let options = ConnectionOptions(environmentRule: .byHostName(otherwise: .production))
    #expect(options.environment(host: name) == environment ?? .production)
    #expect(options.environment(host: nil) == .production)
    #expect(ConnectionOptions(environmentRule: .fixed(.production)).environment(host: name) == .production)
  }

  @Test func `listeners may be a list in the file`() throws {
    #expect(try configuration(yaml: "listen: [\"a:1\", \"b:2\"]\n").listen == ["a:1", "b:2"])
  }

  @Test(arguments: [
    ("listen", ""), ("listen", "2197"), ("listen", ":2197"), ("listen", "host:"), ("listen", "host:65536"),
    ("listen", "host:-1"), ("listen", "host:http"), ("listen", "127.0.0.1:1,nonsense"), ("environment", "staging"),
    ("environment", ""), ("durability", "none"), ("loops", "0"), ("loops", "257"), ("loops", "two"),
    ("mailbox_cap", "0"),
    ("mailbox_cap", "1000001"), ("rate_limit", "0"), ("rate_limit", "-1"), ("rate_limit", ""),
    ("log_retention_days", "-1"), ("log_retention_days", "3651"), ("log_level", "loud"), ("log_level", ""),
  ])
  func `a value that can't be used is refused in one line that names it`(_ name: String, _ value: String) {
    let words = failure { _ = try configuration(flags: [name: value]) }
    #expect(!words.contains("\n"))
    #expect(words.contains("expected "))
    #expect(name == "listen" || words.hasPrefix("\(name) is \"\(value)\" (flag)"))
  }

  @Test(arguments: [("mailbox_cap", "1"), ("mailbox_cap", "1000000"), ("loops", "256"), ("log_retention_days", "3650")])
  func `the bounds themselves are allowed`(_ name: String, _ value: String) throws {
    _ = try configuration(flags: [name: value])
  }

  /// Invalid files, and their errors, which follow the path.
  static let wrongFiles: [(yaml: String, words: String)] = [
    ("\n\nmailbox_cpa: 1\n", "unknown setting mailbox_cpa (PATH, line 3): did you mean mailbox_cap?"),
    ("mailbox-cap: 1\n", "unknown setting mailbox-cap (PATH, line 1): did you mean mailbox_cap?"),
    ("loops: 1\n# two\nloops: 2\n", "loops is given twice (PATH, line 3): expected each setting once"),
    ("# one\nloops: two\n", "loops is \"two\" (PATH, line 2): expected a number from 1 to 256"),
    (
      "# one\nloops:\n  a: b\n",
      "invalid value of loops (PATH, line 2): expected one value, or a list of values"
    ),
  ]

  @Test(arguments: wrongFiles)
  func `what is wrong in the file is said with its line`(_ yaml: String, _ words: String) {
    let path = folder.file("config.yaml")
    #expect(failure { _ = try configuration(yaml: yaml) } == words.replacing("PATH", with: path))
  }

  @Test func `an unknown setting that is near to none is told all of them`() {
    let words = failure { _ = try configuration(yaml: "elephants: 1\n") }
    #expect(words.contains("unknown setting elephants") && words.contains("): expected one of listen, http_listen, "))
  }

  @Test func `variables that set nothing are a warning, which does not tell their values`() throws {
    let variables = [
      "PUSHGATEWAY_MAILBOXCAP": "hush", "PUSHGATEWAY_ZEBRA_STRIPES": "hush", "PUSHGATEWAY_STATE": "/x",
      "PUSHGATEWAY_LOOPS": "1", "HOME": "/h",
    ]
    #expect(
      try configuration(environment: variables).warnings == [
        "unknown variable PUSHGATEWAY_MAILBOXCAP: did you mean PUSHGATEWAY_MAILBOX_CAP?",
        "unknown variable PUSHGATEWAY_ZEBRA_STRIPES: no setting has it, unset it",
      ])
    let many = Dictionary(uniqueKeysWithValues: (0..<100).map { ("PUSHGATEWAY_ZEBRA_\($0)", "") })
    #expect(try configuration(environment: many).warnings.count == 20)
  }

  @Test func `a file that systemd hands to the service is named as a credential`() throws {
    let yaml = "certificate: credential:tls.pem\ncertificate_key: credential:tls.key\n"
    let configuration = try configuration(yaml: yaml, environment: ["CREDENTIALS_DIRECTORY": "/run/credentials/x"])
    #expect(configuration.certificate == "/run/credentials/x/tls.pem")
    #expect(configuration.certificateKey == "/run/credentials/x/tls.key")
    #expect(configuration.effective.first { $0.name == "certificate" }?.value == "credential:tls.pem")
    #expect(
      failure { _ = try self.configuration(yaml: yaml) }.hasSuffix("give the unit LoadCredential=tls.pem:PATH"))
    for name in ["", "..", "../../etc/passwd", "a/b"] {
      let words = failure {
        _ = try self.configuration(
          flags: ["client_ca": "credential:\(name)"], environment: ["CREDENTIALS_DIRECTORY": "/run/x"])
      }
      #expect(words.contains("expected credential:NAME"), "\(name)")
    }
  }

  @Test func `a certificate comes with its key`() {
    for name in ["certificate", "certificate_key"] {
      let words = failure { _ = try configuration(flags: [name: "/a.pem"]) }
      #expect(words.hasPrefix("certificate and certificate_key belong together"))
    }
  }

  @Test(arguments: ["a: [", "\t- x: :", "a: b: c"])
  func `a file that is not YAML is refused in one line`(_ yaml: String) {
    let words = failure { _ = try configuration(yaml: yaml) }
    #expect(words.contains("is not YAML"))
    #expect(!words.contains("\n"))
  }

  @Test(arguments: ["- a\n- b\n", "just words\n", "5\n"])
  func `a file that holds no settings is refused`(_ yaml: String) {
    #expect(
      failure { _ = try configuration(yaml: yaml) }.hasSuffix(
        "does not contain settings: expected one `name: value` a line"))
  }

  @Test(arguments: ["[a, b]: 1\n", "? {a: b}\n: 1\n", "? [a]\n", "{}: 1\n"])
  func `a file whose names are no words is refused`(_ yaml: String) {
    #expect(
      failure { _ = try configuration(yaml: yaml) }.hasSuffix(
        "does not contain settings: expected one `name: value` a line"))
  }

  static let oddFiles: [String] = [
    "loops: {a: b}\n", "listen: [[a]]\n", "loops: !!set {? [b]}\n", "listen: !!pairs [{[a]: b}]\n",
    "loops: " + String(repeating: "[", count: 2000),
    "loops: " + String(repeating: "[", count: 900) + String(repeating: "]", count: 900),
    "loops: 9223372036854775807:59:59\n", "loops: -9223372036854775808:1\n", "loops: 1e999\n", "loops: .nan\n",
    "loops: 2026-13-99T99:99:99.123456789123+99:99\n", "loops: !!binary x\n", "loops: &a [*a]\n", "? &a b\n: *a\n",
    "loops: \"\\uD800\"\n", "loops: 99999999999999999999999\n", "mailbox_cap: -9223372036854775808\n",
  ]

  @Test(arguments: oddFiles)
  func `a value that no setting has is refused in one line`(_ yaml: String) {
    let words = failure { _ = try configuration(yaml: yaml) }
    #expect(words != "no failure" && !words.contains("\n"))
  }

  @Test(arguments: ["", "# nothing\n"])
  func `an empty file is no file`(_ yaml: String) throws {
    #expect(try configuration(yaml: yaml).effective.allSatisfy { $0.origin == "default" })
  }

  @Test func `a file that was named has to be there`() throws {
    let path = folder.file("other.yaml")
    let words = failure { _ = try Configuration(state: folder.path, flags: [:], file: path, environment: [:]) }
    #expect(words == "\(path) can't be read: there is no such file")
    _ = try folder.write("mailbox_cap: 5\n".utf8, "other.yaml")
    #expect(try Configuration(state: folder.path, flags: [:], file: path, environment: [:]).mailboxCap == 5)
  }

  @Test(
    arguments: [
      ("here", ["PUSHGATEWAY_STATE": "there"], "here"), (nil, ["PUSHGATEWAY_STATE": "there"], "there"),
      (nil, ["PUSHGATEWAY_STATE": "", "HOME": "/h"], "/h/.local/share/pushgateway"),
      (nil, ["XDG_DATA_HOME": "/x", "HOME": "/h"], "/x/pushgateway"),
      (nil, ["XDG_DATA_HOME": "", "HOME": "/h"], "/h/.local/share/pushgateway"),
    ] as [(String?, [String: String], String)])
  func `the state folder is found`(_ flag: String?, _ environment: [String: String], _ path: String) throws {
    #expect(try Configuration.stateFolder(flag: flag, environment: environment) == path)
  }

  @Test func `a user whose home is a gateway's folder means that gateway`() throws {
    let environment = ["HOME": folder.path]
    #expect(
      try Configuration.stateFolder(flag: nil, environment: environment) == folder.path + "/.local/share/pushgateway")
    _ = try folder.write([UInt8](), "pushgateway.sqlite")
    #expect(try Configuration.stateFolder(flag: nil, environment: environment) == folder.path)
  }

  @Test(arguments: [[:], ["HOME": ""], ["PUSHGATEWAY_STATE": "", "XDG_DATA_HOME": ""]])
  func `without a home there is no state folder, least of all one that everybody shares`(
    _ environment: [String: String]
  ) {
    let error = #expect(throws: ConfigurationError.self) {
      _ = try Configuration.stateFolder(flag: nil, environment: environment)
    }
    #expect(error?.description.contains("--state") == true)
  }

  @Test(arguments: [
    ("127.0.0.1:2197", "127.0.0.1", 2197), ("[::1]:0", "::1", 0), ("localhost:65535", "localhost", 65535),
  ])
  func `an address is a host and a port`(_ text: String, _ host: String, _ port: Int) throws {
    #expect(try SettingAddress.address(text) == .tcp(host: host, port: port))
  }
}
