/// The allowed JSON values of a preference.
indirect enum Shape: Sendable {
  case bool, boolOrNull, budget, categoryPermission, delivery, logText, summary, window, topic
  /// An array with a maximum number of elements.
  case list(Shape, maximum: Int)
  /// An object with any names, and values of one shape.
  case named(Shape, maximum: Int)
  case focuses
  /// An object with these keys, all of them optional.
  case object([(key: String, shape: Shape)])

  /// The maximum size of the name of an app or a category, in bytes.
  private static let maximumNameSize = 255

  func error(in value: JSONElement, at pointer: String) -> String? {
    var error: String?
    switch self {
    case .object(let members):
      guard value.kind == .object else { break }
      value.visitMembers { key, value in
        guard error == nil else { return }
        let name = key.string
        if let member = members.first(where: { $0.key == name }) {
          error = member.shape.error(in: value, at: pointer + "/" + name)
        } else {
          let known = members.map(\.key).joined(separator: ", ")
          error = "\(pointer)/\(name.pointerToken) is unknown: expected one of \(known)"
        }
      }
      return error
    case .named(let shape, let maximum):
      guard value.kind == .object else { break }
      var count = 0
      value.visitMembers { key, value in
        count += 1
        guard error == nil else { return }
        let name = key.string
        error =
          name.utf8.count > Shape.maximumNameSize
          ? "\(pointer) has a name of \(name.utf8.count) bytes: expected at most \(Shape.maximumNameSize)"
          : shape.error(in: value, at: pointer + "/" + name.pointerToken)
      }
      return error ?? (count > maximum ? "\(pointer) has more than \(maximum) members" : nil)
    case .focuses:
      value.visitMembers { key, _ in
        if !Preferences.isFocusName(key.string) {
          let place = "\(pointer)/\(key.string.pointerToken)"
          error = error ?? "\(place) is not a valid name of a Focus: expected letters, digits, hyphens, spaces"
        }
      }
      return error
        ?? Shape.named(.list(.topic, maximum: 10_000), maximum: Preferences.maximumFocuses).error(
          in: value, at: pointer)
    case .list(let shape, let maximum):
      guard value.kind == .array else { break }
      var index = 0
      value.forEachElement { element in
        if error == nil { error = shape.error(in: element, at: "\(pointer)/\(index)") }
        index += 1
      }
      return error ?? (index > maximum ? "\(pointer) has more than \(maximum) elements" : nil)
    default: if fits(value) { return nil }
    }
    return "\(pointer.isEmpty ? "the body" : pointer) must be \(words), not \(value.evidence)"
  }

  private func fits(_ value: JSONElement) -> Bool {
    switch self {
    case .bool: value.kind == .bool
    case .boolOrNull: value.kind == .bool || value.kind == .null
    case .budget: value.kind == .null || value.integer.map((0...AppPreferences.maximumBudget).contains) ?? false
    case .categoryPermission: value.kind == .null || value.string.flatMap(CategoryPermission.init) != nil
    case .delivery: value.string.flatMap(Delivery.init) != nil
    case .logText: value.string.flatMap(LogText.init) != nil
    case .summary: value.string.flatMap(SummaryTimes.init(_:)) != nil
    case .window: value.string.flatMap(QuietWindow.init(_:)) != nil
    case .topic: value.string.map(Preferences.isTopic) ?? false
    case .list, .named, .focuses, .object: false
    }
  }

  private var words: String {
    switch self {
    case .bool: "true or false"
    case .boolOrNull: "true, false or null"
    case .budget: "a whole number from 0 to \(AppPreferences.maximumBudget), or null"
    case .categoryPermission: "\"show\", \"quiet\", \"off\" or null"
    case .delivery: "\"now\" or \"summary\""
    case .logText: "\"off\", \"devices\" or \"senders\""
    case .summary: "times such as \"08:00,18:00 Europe/Berlin\""
    case .window: "a window such as \"22:00-07:00 mon-fri Europe/Berlin\""
    case .topic: "a topic such as \"com.example.news\""
    case .list: "an array"
    case .named, .focuses, .object: "an object"
    }
  }
}
