/// The storage of a preference in one scope, and the operations on it.
struct PreferenceSlot<Holder: PreferenceHolder>: Sendable {
  /// The usual values, as a settings screen offers them.
  let values: [String]
  let isText: Bool
  /// The description of the allowed values, in a line of a table.
  let words: String
  /// The allowed JSON values.
  let shape: Shape
  let decode: @Sendable (inout Holder, KeyedDecodingContainer<PreferenceKey>, PreferenceKey) throws -> Void
  let encode: @Sendable (Holder, inout KeyedEncodingContainer<PreferenceKey>, PreferenceKey) throws -> Void
  let assign: @Sendable (inout Holder, _ name: String, _ value: String) throws(SettingError) -> Void
  /// The names for which there is a value each; one empty name for a preference with a single value.
  let members: @Sendable (Holder) -> [String]
  /// The value in the syntax of an assignment.
  let text: @Sendable (Holder, _ member: String) -> String
  /// The remark in a list, if the value is not the default.
  let remark: @Sendable (Holder) -> String?
  /// The reason why the preference removes a part.
  let refusal: @Sendable (Holder) -> String?
  /// The value with which the preference removes nothing.
  let remedy: String

  /// Makes a slot.
  ///
  /// - Parameters:
  ///   - path: The stored property. Its value in a new holder is the default.
  ///   - isAlwaysWritten: True if JSON also contains the default value.
  ///   - refusal: The reason why it removes a part, with `VALUE` for its value.
  ///   - remark: The remark in a list, if the value is not the default, with `VALUE` likewise.
  ///   - change: Another change of the holder that each assignment makes.
  init<Value: Codable & Equatable & Sendable>(
    _ path: any WritableKeyPath<Holder, Value> & Sendable, _ type: PreferenceType<Value>, isAlwaysWritten: Bool = false,
    refusal: String? = nil, remark: String? = nil, change: (@Sendable (inout Holder) -> Void)? = nil
  ) {
    (values, isText, words, shape, remedy) = (type.values, type.isText, type.words, type.shape, type.letting)
    decode = { holder, container, key in
      if let value = try container.decodeIfPresent(Value.self, forKey: key) {
        holder[keyPath: path] = value
      } else if let null = type.null, container.contains(key) {
        holder[keyPath: path] = null
      }
    }
    encode = { holder, container, key in
      let value = holder[keyPath: path]
      if isAlwaysWritten || value != Holder()[keyPath: path] {
        try container.encode(type.encoded(value), forKey: key)
      }
    }
    assign = { (holder, name, text) throws(SettingError) in
      try type.assign(&holder[keyPath: path], name, text)
      change?(&holder)
    }
    members = { type.members($0[keyPath: path]) }
    text = { holder, member in type.text(holder[keyPath: path], member) }
    @Sendable func fill(_ words: String?, _ holder: Holder) -> String? {
      words?.replacing("VALUE", with: type.text(holder[keyPath: path], ""))
    }
    self.remark = { holder in holder[keyPath: path] == Holder()[keyPath: path] ? nil : fill(remark, holder) }
    self.refusal = { holder in fill(refusal, holder) }
  }
}

/// The name of a preference in JSON.
struct PreferenceKey: CodingKey, ExpressibleByStringLiteral {
  let stringValue: String
  var intValue: Int? { nil }

  init(_ name: String) { stringValue = name }
  init(stringLiteral name: String) { stringValue = name }
  init?(stringValue: String) { self.stringValue = stringValue }
  init?(intValue: Int) { nil }
}

/// The type of a preference's values: reading, writing and checking.
struct PreferenceType<Value: Sendable>: Sendable {
  var values: [String]
  var isText = false
  var words: String
  var shape: Shape
  /// The value that lets all pushes through.
  var letting: String
  var assign: @Sendable (inout Value, _ name: String, _ text: String) throws(SettingError) -> Void
  var text: @Sendable (Value, _ member: String) -> String
  var encoded: @Sendable (Value) -> any Encodable & Sendable
  var members: @Sendable (Value) -> [String] = { _ in [""] }
  /// The value for which null stands in JSON; nil if it stands for none.
  var null: Value?

  /// Makes a type for preferences with one value each.
  ///
  /// - Parameters:
  ///   - expected: The description of valid values, for error messages.
  ///   - read: Reads a value; nil for an invalid one.
  init(
    values: [String], isText: Bool = false, words: String? = nil, shape: Shape, letting: String, expected: String,
    text: @escaping @Sendable (Value) -> String,
    read: @escaping @Sendable (_ name: String, _ text: String) throws(SettingError) -> Value?
  ) where Value: Encodable {
    (self.values, self.isText, self.shape, self.letting) = (values, isText, shape, letting)
    self.words = words ?? values.map { "`\($0)`" }.joined(separator: ", ")
    self.text = { value, _ in text(value) }
    encoded = { $0 }
    assign = { (value, name, text) throws(SettingError) in
      guard let read = try read(name, text) else {
        throw SettingError("invalid value \"\(text)\" of \(name): write \(expected)")
      }
      value = read
    }
  }
}

extension PreferenceType<Bool> {
  static var isOn: Self { either("on", "off") }

  /// A switch; `on` and `off` are always valid, and also the two given words.
  static func either(_ on: String, _ off: String, letting: String? = nil) -> Self {
    let words = [on, off] + ["on", "off"].filter { ![on, off].contains($0) }
    return PreferenceType(
      values: ["on", "off"], words: words.map { "`\($0)`" }.joined(separator: ", "), shape: .bool,
      letting: letting ?? on,
      expected: "\(on) or \(off)", text: { $0 ? "on" : "off" },
      read: { (name, text) throws(SettingError) in
        switch text {
        case "on", on: return true
        case "off", off: return false
        case "inherit": throw SettingError("only a category inherits: write \(name)=on or \(name)=off")
        default: return nil
        }
      })
  }
}

extension PreferenceType<Bool?> {
  static var isOnOrInherited: Self {
    PreferenceType(
      values: ["inherit", "on", "off"], shape: .boolOrNull, letting: "on", expected: "on, off or inherit",
      text: { $0.map { $0 ? "on" : "off" } ?? "inherit" },
      read: { _, text in
        switch text {
        case "on": .some(true)
        case "off": .some(false)
        case "inherit": .some(nil)
        default: nil
        }
      })
  }
}

extension PreferenceType<AlertBudget> {
  static var budget: Self {
    var type = PreferenceType(
      values: ["default", "unlimited", "0", "1", "5", "50"], isText: true,
      words: "a number from 0 to \(AppPreferences.maximumBudget), `unlimited`, `default`",
      shape: .budget, letting: "unlimited", expected: "the alerts an hour, such as budget=5, unlimited or default",
      text: { budget in
        switch budget {
        case .standard: "default"
        case .alerts(let count): String(count)
        case .unlimited: "unlimited"
        }
      },
      read: { _, text in
        switch text {
        case "default": return .standard
        // Versions before 0.2 wrote `none`.
        case "unlimited", "none": return .unlimited
        default:
          return Int(text).flatMap { (0...AppPreferences.maximumBudget).contains($0) ? .alerts($0) : nil }
        }
      })
    type.null = .unlimited
    return type
  }
}

extension PreferenceType<LogText> {
  static var logText: Self {
    PreferenceType(
      values: LogText.allCases.map(\.rawValue), shape: .logText, letting: "devices",
      expected: "off, devices or senders", text: { $0.rawValue }, read: { _, text in LogText(rawValue: text) })
  }
}

extension PreferenceType<Delivery> {
  static var delivery: Self {
    PreferenceType(
      values: ["now", "summary"], shape: .delivery, letting: "now", expected: "now or summary", text: { $0.rawValue },
      read: { _, text in Delivery(rawValue: text) })
  }
}

extension PreferenceType<CategoryPermission?> {
  static var categoryPermission: Self {
    PreferenceType(
      values: ["new"] + CategoryPermission.allCases.map(\.rawValue), shape: .categoryPermission, letting: "show",
      expected: "show, quiet, off or new", text: { $0?.rawValue ?? "new" },
      read: { _, text in text == "new" ? .some(nil) : CategoryPermission(rawValue: text).map(Optional.some) })
  }
}

extension PreferenceType<SummaryTimes> {
  static var times: Self {
    PreferenceType(
      values: [SummaryTimes().description, "12:00", "20:00"], isText: true,
      words: "times such as `08:00,18:00 Europe/Berlin`, `default`", shape: .summary, letting: "default",
      expected: "times such as \"08:00,18:00 Europe/Berlin\"", text: { $0.description },
      read: { _, text in text == "default" ? SummaryTimes() : SummaryTimes(text) })
  }
}

extension PreferenceType<[QuietWindow]> {
  /// Windows separated by semicolons; `off` for none.
  static var windows: Self {
    PreferenceType(
      values: ["off", "22:00-07:00", "23:00-06:00"], isText: true,
      words: "windows such as `22:00-07:00 mon-fri Europe/Berlin`, `off`",
      shape: .list(.window, maximum: Preferences.maximumWindows), letting: "off", expected: "windows, or off",
      text: { $0.isEmpty ? "off" : $0.map(\.description).joined(separator: "; ") },
      read: { (name, text) throws(SettingError) in
        if text == "off" { return [] }
        var windows: [QuietWindow] = []
        for text in text.split(separator: ";", omittingEmptySubsequences: false) {
          guard let window = QuietWindow(String(text)) else {
            throw SettingError(
              """
              invalid value "\(text)" of \(name): write "22:00-07:00 mon-fri Europe/Berlin", several separated by semicolons, or off
              """)
          }
          windows.append(window)
        }
        guard windows.count <= Preferences.maximumWindows else {
          throw SettingError("there are at most \(Preferences.maximumWindows) windows of quiet hours")
        }
        return windows
      })
  }
}

extension PreferenceType<[String: Set<String>]> {
  /// The topics that each Focus lets through.
  static var focuses: Self {
    var type = PreferenceType(
      values: ["off", "none"], isText: true, words: "topics separated by commas, `none`, `off`", shape: .focuses,
      letting: "none", expected: "topics", text: { _ in "" }, read: { _, _ in nil })
    type.members = { Set($0.keys).union(Preferences.usualFocuses).sorted() }
    type.text = { focuses, name in
      focuses[name].map { $0.isEmpty ? "none" : $0.sorted().joined(separator: ",") } ?? "off"
    }
    type.encoded = { focuses in focuses.mapValues { $0.sorted() } }
    type.assign = { (focuses, name, text) throws(SettingError) in
      let name = String(name.drop { $0 != "." }.dropFirst())
      guard Preferences.isFocusName(name) else {
        throw SettingError(
          "invalid name \"\(name)\" of a Focus: expected letters, digits, hyphens and spaces, at most 64")
      }
      switch text {
      case "off": focuses[name] = nil
      case "none": focuses[name] = []
      // Blanks between two commas are not a topic.
      default:
        let topics = text.split(separator: ",").map { $0.filter { $0 != " " } }.filter { !$0.isEmpty }
        if let wrong = topics.first(where: { !Preferences.isTopic($0) }) {
          throw SettingError(
            "invalid topic \"\(wrong)\": write topics such as com.example.mail,com.example.chat, or none, or off")
        }
        focuses[name] = Set(topics)
      }
      guard focuses.count <= Preferences.maximumFocuses else {
        throw SettingError("there are at most \(Preferences.maximumFocuses) Focuses")
      }
    }
    return type
  }
}
