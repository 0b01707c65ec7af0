import Foundation
import GatewayProtocol
import PushTesting
import Testing

@testable import PushGateway

@Suite struct ConfigurationExampleTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  func configuration(of yaml: String) throws -> Configuration {
    let path = try folder.write(yaml.utf8, "config.yaml")
    return try Configuration(state: folder.path, flags: [:], file: path, environment: [:])
  }

  /// The example, with the `#` before every setting removed.
  let uncommented = Configuration.example(schema: "x.json").replacing(/(?m)^#([a-z_]+: )/) { $0.1 }

  @Test func `as it is, the example sets nothing`() throws {
    let example = Configuration.example(schema: "x.json")
    #expect(example.hasPrefix("# yaml-language-server: $schema=x.json\n"))
    #expect(try configuration(of: example).effective.allSatisfy { $0.origin == "default" })
    #expect(example.split(separator: "\n").allSatisfy { $0.hasPrefix("#") && $0.count <= 120 })
  }

  @Test func `without its marks the example sets every setting, to its default where that is the same everywhere`()
    throws
  {
    let configuration = try configuration(of: uncommented)
    #expect(configuration.effective.allSatisfy { $0.origin == "file" })
    for (setting, effective) in zip(Configuration.settings, configuration.effective)
    where setting.normal == setting.text(.defaults) {
      #expect(effective.value == setting.normal)
    }
  }

  @Test func `the example does not depend on the machine that makes it`() {
    #expect(Configuration.example(schema: "").contains("\n# Default: one per core.\n#loops: 1\n"))
  }

  @Test func `the schema has each setting, and no other name`() throws {
    let schema = try #require(
      JSONSerialization.jsonObject(with: Data(Configuration.schema.utf8)) as? [String: Any])
    let properties = try #require(schema["properties"] as? [String: [String: Any]])
    #expect(schema["$schema"] as? String == "https://json-schema.org/draft/2020-12/schema")
    #expect(schema["additionalProperties"] as? Bool == false)
    #expect(Set(properties.keys) == Set(Configuration.settings.map(\.name)))
    #expect(properties["loops"]?["maximum"] as? Int == 256)
    #expect(
      properties["log_level"]?["enum"] as? [String] == Configuration.settings.first { $0.name == "log_level" }?.choices)
    #expect(properties["client_ca"]?["type"] as? String == "string")
    #expect((properties["listen"]?["anyOf"] as? [[String: Any]])?.map { $0["type"] as? String } == ["string", "array"])
    let rate = try #require(properties["rate_limit"]?["anyOf"] as? [[String: Any]])
    #expect(rate.first?["minimum"] as? Int == 1 && rate.last?["enum"] as? [String] == ["none"])
  }

  @Test(arguments: Configuration.settings.map(\.name))
  func `what the schema takes and what is read are the same`(_ name: String) throws {
    let setting = try #require(Configuration.settings.first { $0.name == name })
    func isRead(_ value: String) -> Bool {
      var configuration = Configuration.defaults
      return (try? setting.assign(&configuration, value)) ?? false
    }
    func check(_ shape: SettingShape) {
      switch shape {
      case .number(let range):
        #expect(isRead("\(range.lowerBound)") && isRead("\(range.upperBound)"))
        #expect(!isRead("\(range.lowerBound - 1)") && !isRead("\(range.upperBound + 1)") && !isRead("x"))
      case .words(let words): #expect(words.allSatisfy(isRead) && !isRead("nonsense"))
      case .orNone(let shape):
        #expect(isRead("none"))
        check(shape)
      case .text, .list: #expect(isRead(setting.text(.defaults)))
      }
    }
    check(setting.shape)
  }
}
