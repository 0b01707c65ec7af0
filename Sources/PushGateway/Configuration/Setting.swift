import Foundation
import PushCore

/// One setting with its complete description: a row of a table.
///
/// Its flag, its variable, its line of `config.yaml` and of the example, its row of `serve --check`, its row of
/// docs/reference/configuration.md and its part of the schema for editors are derived from it.
package struct Setting<Holder: SettingHolder>: Sendable {
  /// The name in `config.yaml`, in snake case.
  package let name: String
  /// A description of valid values, to follow the word "expected".
  package let expected: String
  /// All valid values, if they can be listed.
  package let choices: [String]
  package let form: SettingForm
  /// The form of a value in `config.yaml`, for editors.
  let shape: SettingShape
  /// The time at which a change takes effect.
  package let change: SettingChange
  /// The default in the format of the setting, or in words if it depends on the machine.
  package let normal: String
  /// A description of the effect, in a sentence or two.
  package let help: String

  /// The name of the flag, without its hyphens.
  package var flag: String { name.replacing("_", with: "-") }
  package var variable: String { "PUSHGATEWAY_" + name.uppercased() }

  /// Parses a value and assigns it to a holder; returns false if it is invalid.
  let assign: @Sendable (inout Holder, String) throws(ConfigurationError) -> Bool
  /// Copies the value from another holder.
  let copy: @Sendable (inout Holder, Holder) -> Void
  /// Returns the value in effect, in the format of the setting.
  let text: @Sendable (Holder) -> String

  /// Creates a row.
  ///
  /// - Parameters:
  ///   - path: the property that stores the value. Its value in ``SettingHolder/defaults`` is the default.
  ///   - words: the default in words, if it depends on the machine.
  ///   - change: the time at which a change takes effect.
  init<Value>(
    _ name: String, _ path: any WritableKeyPath<Holder, Value> & Sendable, _ type: SettingType<Value>,
    default words: String? = nil, change: SettingChange = .restart, _ help: String
  ) {
    self.name = name
    self.help = help
    self.change = change
    (expected, choices, form, shape) = (type.expected, type.choices, type.form, type.shape)
    normal = words ?? type.text(Holder.defaults[keyPath: path])
    text = { type.text($0[keyPath: path]) }
    copy = { $0[keyPath: path] = $1[keyPath: path] }
    assign = { (holder, text) throws(ConfigurationError) in
      guard let value = try type.read(text) else { return false }
      holder[keyPath: path] = value
      return true
    }
  }
}

/// A type that stores the values of settings.
package protocol SettingHolder: Sendable {
  /// The default values.
  static var defaults: Self { get }
}

/// An error: a setting is invalid, described in one line.
package struct ConfigurationError: Error, CustomStringConvertible {
  package var description: String
}

/// The time at which a changed setting takes effect.
package enum SettingChange: String, Sendable {
  /// On a reload of the settings by a running gateway.
  case reload
  /// On the next start of the gateway.
  case restart
}

/// The form in which a setting's values are given.
package enum SettingForm: Sendable {
  case word, file
  /// Several values, separated by commas, with one flag each.
  case list
}

/// The type of a setting's values: how they are parsed and formatted.
struct SettingType<Value>: Sendable {
  var expected: String
  var choices: [String] = []
  var form = SettingForm.word
  var shape = SettingShape.text
  /// Parses a value; returns nil if it is invalid.
  ///
  /// - Throws: ``ConfigurationError`` if there is a more specific description than ``expected``.
  var read: @Sendable (String) throws(ConfigurationError) -> Value?
  var text: @Sendable (Value) -> String
}

extension SettingType where Value: FixedWidthInteger & Sendable {
  static func number(_ range: ClosedRange<Value>, of unit: String? = nil) -> Self {
    SettingType(
      expected: "a \(unit.map { "number of \($0)" } ?? "number") from \(range.lowerBound) to \(range.upperBound)",
      shape: .number(Int64(clamping: range.lowerBound)...Int64(clamping: range.upperBound)),
      read: { text in Value(text).flatMap { range.contains($0) ? $0 : nil } }, text: { String($0) })
  }
}

extension SettingType<Duration> {
  static func seconds(_ range: ClosedRange<Int64>) -> Self {
    let number = SettingType<Int64>.number(range, of: "seconds")
    return SettingType(
      expected: number.expected, shape: number.shape,
      read: { (text) throws(ConfigurationError) in try number.read(text).map(Duration.seconds) },
      text: { String($0.components.seconds) })
  }
}

extension SettingType<ByteSize> {
  static func size(_ range: ClosedRange<Int64>) -> Self {
    SettingType(
      expected: "a size from \(ByteSize(range.lowerBound).exact) to \(ByteSize(range.upperBound).exact)",
      read: { text in ByteSize(text).flatMap { range.contains($0.bytes) ? $0 : nil } }, text: \.exact)
  }
}

extension SettingType<String> {
  /// The path of a file that is read when the gateway starts.
  static func file(_ what: String) -> Self {
    SettingType(expected: "the path of \(what)", form: .file, read: { $0 }, text: { $0 })
  }

  /// Any text that is not empty.
  static func word(_ what: String) -> Self {
    SettingType(expected: what, read: { $0.isEmpty ? nil : $0 }, text: { $0 })
  }

  static func oneOf(_ words: [String]) -> Self {
    SettingType(
      expected: alternatives(words), choices: words, shape: .words(words),
      read: { words.contains($0) ? $0 : nil }, text: { $0 })
  }
}

extension SettingType where Value: RawRepresentable<String> & Sendable {
  static func oneOf(_ values: [Value]) -> Self {
    let words = SettingType<String>.oneOf(values.map(\.rawValue))
    return SettingType(
      expected: words.expected, choices: words.choices, shape: words.shape,
      read: { (text) throws(ConfigurationError) in try words.read(text).flatMap(Value.init) }, text: { $0.rawValue })
  }
}

extension SettingType where Value: Equatable & Sendable {
  /// Values with names defined here.
  static func choice(_ choices: KeyValuePairs<String, Value>) -> Self {
    SettingType(
      expected: alternatives(choices.map(\.key)), choices: choices.map(\.key), shape: .words(choices.map(\.key)),
      read: { text in choices.first { $0.key == text }?.value },
      text: { value in choices.first { $0.value == value }?.key ?? "" })
  }
}

extension SettingType {
  /// A type whose values may also be `none`.
  static func orNone<Wrapped>(_ type: SettingType<Wrapped>) -> Self where Value == Wrapped? {
    SettingType(
      expected: type.expected + ", or none", choices: type.choices, form: type.form, shape: .orNone(type.shape),
      read: { (text) throws(ConfigurationError) in
        if text == "none" { return .some(nil) }
        return try type.read(text).map { .some($0) }
      },
      text: { $0.map(type.text) ?? "none" })
  }
}

/// Returns `a, b or c`.
private func alternatives(_ words: [String]) -> String {
  words.count < 2 ? words.joined() : words.dropLast().joined(separator: ", ") + " or " + words[words.count - 1]
}
