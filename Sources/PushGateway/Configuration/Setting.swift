import Foundation
import PushCore

/// One setting, with all there is to say about it: a row of a table.
///
/// Its flag, its variable, its line of `config.yaml` and of the example, its row of `serve --check`, its row of
/// docs/configuration.md and its part of the schema for editors follow.
package struct Setting<Holder: SettingHolder>: Sendable {
  /// As in `config.yaml`, in snake case.
  package let name: String
  /// What a value has to be, in words that follow "expected".
  package let expected: String
  /// Every value there is, where they can be listed.
  package let choices: [String]
  package let form: SettingForm
  /// What a value is in `config.yaml`, for editors.
  let shape: SettingShape
  /// When another value comes into force.
  package let change: SettingChange
  /// The default, as somebody would write it, or in words where it depends on the machine.
  package let normal: String
  /// What it does, in a sentence or two.
  package let help: String

  /// The name of the flag, without its hyphens.
  package var flag: String { name.replacing("_", with: "-") }
  package var variable: String { "PUSHGATEWAY_" + name.uppercased() }

  /// Reads a value and puts it into force, or returns that it can't be used.
  let assign: @Sendable (inout Holder, String) throws(ConfigurationError) -> Bool
  /// Takes the value over from another holder.
  let copy: @Sendable (inout Holder, Holder) -> Void
  /// The value in force, as somebody would write it.
  let text: @Sendable (Holder) -> String

  /// A row.
  ///
  /// - Parameters:
  ///   - path: Where the value goes. What ``SettingHolder/defaults`` has there is the default.
  ///   - words: The default in words, where it depends on the machine.
  ///   - change: When another value comes into force.
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

/// What settings are put into force in.
package protocol SettingHolder: Sendable {
  /// What holds where nothing was said.
  static var defaults: Self { get }
}

/// A setting that can't be, in one line.
package struct ConfigurationError: Error, CustomStringConvertible {
  package var description: String
}

/// When a setting that was changed comes into force.
package enum SettingChange: String, Sendable, Codable {
  /// When a running gateway reads its settings again.
  case reload
  /// When the gateway is started again.
  case restart
}

/// How a setting's values are given.
package enum SettingForm: Sendable {
  case word, file
  /// Several, with commas between them, by one flag each.
  case list
}

/// What the values of a setting are: how they are read and written.
struct SettingType<Value>: Sendable {
  var expected: String
  var choices: [String] = []
  var form = SettingForm.word
  var shape = SettingShape.text
  /// nil for what is no such value.
  ///
  /// - Throws: ``ConfigurationError`` where there is more to say than what was expected.
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
  /// Values that have names of their own here.
  static func choice(_ choices: KeyValuePairs<String, Value>) -> Self {
    SettingType(
      expected: alternatives(choices.map(\.key)), choices: choices.map(\.key), shape: .words(choices.map(\.key)),
      read: { text in choices.first { $0.key == text }?.value },
      text: { value in choices.first { $0.value == value }?.key ?? "" })
  }
}

extension SettingType {
  /// What may also be `none`.
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

/// `a, b or c`.
private func alternatives(_ words: [String]) -> String {
  words.count < 2 ? words.joined() : words.dropLast().joined(separator: ", ") + " or " + words[words.count - 1]
}
