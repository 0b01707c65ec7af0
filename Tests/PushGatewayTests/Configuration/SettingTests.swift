import Foundation
import PushTesting
import Testing

@testable import PushGateway

@Suite struct SettingTests {
  static let settings = Configuration.settings.map(\.name)

  func setting(_ name: String) throws -> Setting<Configuration> {
    try #require(Configuration.settings.first { $0.name == name })
  }

  @Test func `a name stands for one setting`() {
    #expect(Set(Self.settings).count == Self.settings.count)
    #expect(Set(Configuration.settings.map(\.variable)).count == Self.settings.count)
  }

  @Test(arguments: settings)
  func `the default is a value like any other`(_ name: String) throws {
    let setting = try setting(name)
    var configuration = Configuration.defaults
    #expect(try setting.assign(&configuration, setting.text(.defaults)))
    #expect(setting.text(configuration) == setting.text(.defaults))
  }

  @Test(arguments: settings)
  func `each of the choices is a value, and reads as it was written`(_ name: String) throws {
    let setting = try setting(name)
    for choice in setting.choices {
      var configuration = Configuration.defaults
      #expect(try setting.assign(&configuration, choice))
      #expect(setting.text(configuration) == choice)
    }
  }

  @Test func `a row says what was expected, with its range and its unit`() throws {
    #expect(try setting("loops").expected == "a number from 1 to 256")
    #expect(try setting("ping_interval").expected == "a number of seconds from 1 to 3600")
    #expect(try setting("rate_limit").expected == "a number of pushes a second from 1 to 1000000, or none")
    #expect(try setting("stream_limit").expected == "fixed or faithful")
    #expect(try setting("client_ca").expected == "the path of a PEM file, or none")
  }

  @Test func `the flag and the variable follow from the name`() throws {
    #expect(try setting("client_ca").flag == "client-ca")
    #expect(try setting("client_ca").variable == "PUSHGATEWAY_CLIENT_CA")
  }

  @Test func `docs-configuration has a row for each`() throws {
    let rows = Configuration.settings.map { setting in
      """
      | `\(setting.name)` | \(setting.expected) | \(setting.normal) | \(setting.change.rawValue) | `--\(setting.flag)` \
      | `\(setting.variable)` | \(setting.help) |
      """
    }
    try DocumentedTable(
      page: "reference/configuration.md",
      header: "| setting | value | default | changes with | flag | variable | what it does |"
    ).expect(rows)
  }
}
