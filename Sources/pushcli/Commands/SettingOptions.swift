import ArgumentParser
import PushGateway

/// The options of `serve` for settings: one for each row of the table of settings.
///
/// ArgumentParser finds options by a mirror of a new instance and decodes their values by name, which is all that it
/// needs from declared properties.
struct SettingOptions: ParsableArguments, CustomReflectable {
  /// The given values, by the name of the setting.
  private(set) var values: [String: String] = [:]

  init() {}

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    for setting in Configuration.settings {
      let key = Key(setting: setting)
      switch setting.form {
      case .list:
        let entries = try container.decode(Option<[String]>.self, forKey: key).wrappedValue
        values[setting.name] = entries.isEmpty ? nil : entries.joined(separator: ",")
      case .word, .file:
        values[setting.name] = try container.decode(Option<String?>.self, forKey: key).wrappedValue
      }
    }
  }

  /// One option for each setting, made once: in a debug build, ArgumentParser reads the options for each of its checks.
  private static let options = Configuration.settings.map { (label: $0.name, value: $0.option) }

  var customMirror: Mirror { Mirror(self, children: Self.options.map { ($0.label, $0.value) as Mirror.Child }) }

  private struct Key: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(setting: Setting<Configuration>) { stringValue = setting.name }
    init?(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }
}

extension Setting {
  /// The option of the setting for ArgumentParser.
  fileprivate var option: any Sendable {
    let help = ArgumentHelp("\(help) (\(normal))")
    let name = NameSpecification.customLong(flag)
    return switch form {
    case .list: Option<[String]>(wrappedValue: [], name: name, help: help)
    case .file: Option<String?>(name: name, help: help, completion: .file())
    case .word: Option<String?>(name: name, help: help, completion: choices.isEmpty ? nil : .list(choices))
    }
  }
}
