import ArgumentParser

/// The options of a command whose values are numbers; the parser's errors do not mention the expected type.
struct OptionNumbers {
  /// An option or argument of the parser, by the type of its value.
  fileprivate protocol Typed { var valueType: Any.Type { get } }
  /// A group of options that belong to the command.
  fileprivate protocol Grouped { var groupType: any ParsableArguments.Type { get } }

  private let command: any ParsableArguments.Type

  /// - Parameter error: the parser's error, which names the command that rejected a value.
  init?(_ error: any Error) {
    let stack = Mirror(reflecting: error).descendant("commandStack") as? [any ParsableCommand.Type]
    guard let command = stack?.last else { return nil }
    self.init(of: command)
  }

  init(of command: any ParsableArguments.Type) { self.command = command }

  /// Returns the expected form of the value of an option such as `--ping-interval`; nil if the value is not a number.
  func expected(of option: some StringProtocol) -> String? {
    guard let type = OptionNumbers.type(of: OptionNumbers.plain(option), in: command) else { return nil }
    let whole: [Any.Type] = [Int.self, Int?.self, Int32?.self, UInt64?.self]
    let real: [Any.Type] = [Double.self, Double?.self]
    if whole.contains(where: { $0 == type }) { return "a whole number" }
    return real.contains { $0 == type } ? "a number" : nil
  }

  private static func type(of name: String, in arguments: any ParsableArguments.Type) -> Any.Type? {
    for (label, value) in Mirror(reflecting: arguments.init()).children {
      if let group = value as? any Grouped {
        if let type = type(of: name, in: group.groupType) { return type }
      } else if let option = value as? any Typed, label.map(plain) == name {
        return option.valueType
      }
    }
    return nil
  }

  /// Returns the letters of a name: `pinginterval` of `--ping-interval` and of its property `_pingInterval`.
  private static func plain(_ name: some StringProtocol) -> String { String(name).filter(\.isLetter).lowercased() }
}

extension Option: OptionNumbers.Typed {
  fileprivate var valueType: Any.Type { Value.self }
}

extension Argument: OptionNumbers.Typed {
  fileprivate var valueType: Any.Type { Value.self }
}

extension OptionGroup: OptionNumbers.Grouped {
  fileprivate var groupType: any ParsableArguments.Type { Value.self }
}
