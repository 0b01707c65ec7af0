/// The exact form of a person's choices as JSON: what a client may write.
///
/// What is stored is read leniently, by `Codable`, so that older and newer versions read each other; what somebody sends
/// is checked here first, so that no misspelt choice is taken for none.
public enum PreferencesForm: Sendable {
  case everything, app, category

  /// Finds the first key that is unknown, and the first value of a wrong type or out of its range.
  ///
  /// - Returns: one line that says where it is and what is due there; `nil` when all is well.
  public func fault(in root: JSONElement) -> String? {
    switch self {
    case .everything: Shape.everything.fault(in: root, at: "")
    case .app: Shape.app.fault(in: root, at: "")
    case .category: Shape.category.fault(in: root, at: "")
    }
  }
}

/// What a value may be.
private indirect enum Shape: Sendable {
  case bool, boolOrNull, budget, delivery, summary, window, topic
  /// An array with at most so many elements.
  case list(Shape, maximum: Int)
  /// Any names, with values of one shape.
  case named(Shape, maximum: Int)
  case focuses
  /// These keys, each of which may be missing.
  case object([(key: String, shape: Shape)])

  static let category = Shape.object([("badge", .boolOrNull), ("sound", .boolOrNull), ("alert", .boolOrNull)])

  private static let switches: [(key: String, shape: Shape)] = [
    ("notifications", .bool), ("badge", .bool), ("sound", .bool), ("alert", .bool),
  ]

  static let app = Shape.object(
    switches + [
      ("categories", .named(category, maximum: 1000)), ("advertising", .bool), ("time_sensitive", .bool),
      ("critical", .bool), ("provisional", .bool), ("alert_budget", .budget), ("delivery", .delivery),
    ])

  static let everything = Shape.object(
    switches + [
      ("apps", .named(app, maximum: 10_000)), ("quiet", .list(.window, maximum: Preferences.maximumWindows)),
      ("focus", .focuses), ("summary", .summary),
    ])

  func fault(in value: JSONElement, at pointer: String) -> String? {
    var fault: String?
    switch self {
    case .object(let members):
      guard value.kind == .object else { break }
      value.visitMembers { key, value in
        guard fault == nil else { return }
        let name = key.string
        if let member = members.first(where: { $0.key == name }) {
          fault = member.shape.fault(in: value, at: pointer + "/" + name)
        } else {
          let known = members.map(\.key).joined(separator: ", ")
          fault = "\(pointer)/\(name.pointerToken) is no choice: there are \(known)"
        }
      }
      return fault
    case .named(let shape, let maximum):
      guard value.kind == .object else { break }
      var count = 0
      value.visitMembers { key, value in
        count += 1
        if fault == nil { fault = shape.fault(in: value, at: pointer + "/" + key.string.pointerToken) }
      }
      return fault ?? (count > maximum ? "\(pointer) has more than \(maximum) members" : nil)
    case .focuses:
      value.visitMembers { key, _ in
        if !Preferences.isFocusName(key.string) {
          let place = "\(pointer)/\(key.string.pointerToken)"
          fault = fault ?? "\(place) is no name of a Focus: letters, digits, hyphens, spaces"
        }
      }
      return fault
        ?? Shape.named(.list(.topic, maximum: 10_000), maximum: Preferences.maximumFocuses).fault(
          in: value, at: pointer)
    case .list(let shape, let maximum):
      guard value.kind == .array else { break }
      var index = 0
      value.forEachElement { element in
        if fault == nil { fault = shape.fault(in: element, at: "\(pointer)/\(index)") }
        index += 1
      }
      return fault ?? (index > maximum ? "\(pointer) has more than \(maximum) elements" : nil)
    default: if fits(value) { return nil }
    }
    return "\(pointer.isEmpty ? "the body" : pointer) has to be \(words), not \(value.evidence)"
  }

  private func fits(_ value: JSONElement) -> Bool {
    switch self {
    case .bool: value.kind == .bool
    case .boolOrNull: value.kind == .bool || value.kind == .null
    case .budget: value.kind == .null || value.integer.map((0...AppPreferences.maximumBudget).contains) ?? false
    case .delivery: value.string.flatMap(Delivery.init) != nil
    case .summary: value.string.flatMap(SummaryTimes.init(_:)) != nil
    case .window: value.string.flatMap(QuietWindow.init(_:)) != nil
    case .topic: value.string.map { !$0.isEmpty } ?? false
    case .list, .named, .focuses, .object: false
    }
  }

  private var words: String {
    switch self {
    case .bool: "true or false"
    case .boolOrNull: "true, false or null"
    case .budget: "a whole number from 0 to \(AppPreferences.maximumBudget), or null"
    case .delivery: "\"now\" or \"summary\""
    case .summary: "times such as \"08:00,18:00 Europe/Berlin\""
    case .window: "a window such as \"22:00-07:00 mon-fri Europe/Berlin\""
    case .topic: "a topic such as \"com.example.news\""
    case .list: "an array"
    case .named, .focuses, .object: "an object"
    }
  }
}
