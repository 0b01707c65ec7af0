/// The request of one push and the state of its device, in short form, from which the delivery log can repeat the
/// decision.
///
/// The text is `badge sound alert`, followed by the values that are not the default, each after a semicolon: the
/// level, `silent`, `marketing`, `focus NAME`, `category NAME`.
package struct RequestedPresentation: Sendable, Equatable, CustomStringConvertible {
  private var asked: PartSet
  /// The level that the sender requests; a critical sound makes it critical.
  package var level: InterruptionLevel
  package var category: String?
  package var device: Policy.DeviceState
  /// True if the sender declares the push as marketing.
  package var isMarketing: Bool

  package init(_ push: PushNotification, on device: Policy.DeviceState, isMarketing: Bool = false) {
    level = push.claimedLevel
    self.isMarketing = isMarketing
    asked = []
    if push.badge != nil { asked.insert(.badge) }
    if case .some = push.sound { asked.insert(.sound) }
    if case .some = push.alert { asked.insert(.alert) }
    category = push.category
    self.device = device
  }

  init(
    _ parts: [Part], level: InterruptionLevel, category: String?, isSilent: Bool, focus: String?,
    isMarketing: Bool = false
  ) {
    self.isMarketing = isMarketing
    asked = PartSet(parts.map { PartSet($0) })
    (self.level, self.category) = (level, category)
    device = .init()
    (device.isSilent, device.focus) = (isSilent, focus)
  }

  /// The bits of the requested parts if all other values are the default; else nil.
  var usualParts: UInt8? {
    level == .active && category == nil && !device.isSilent && device.focus == nil && !isMarketing
      ? asked.rawValue : nil
  }

  /// Makes a request of these parts with all other values as the default; `nil` for invalid bits.
  init?(usualParts bits: UInt8) {
    guard bits <= PartSet.all.rawValue else { return nil }
    self.init(RequestedPresentation.parts(Int(bits)), level: .active, category: nil, isSilent: false, focus: nil)
  }

  package var parts: [Part] { RequestedPresentation.parts(Int(asked.rawValue)) }

  package var description: String {
    // The eight texts with only default values are precomputed.
    let words = RequestedPresentation.words[Int(asked.rawValue)]
    guard level != .active || category != nil || device != .init() || isMarketing else { return words }
    var fields = [words]
    if level != .active { fields.append(level.rawValue) }
    if device.isSilent { fields.append("silent") }
    if isMarketing { fields.append("marketing") }
    if let focus = device.focus { fields.append("focus " + focus.replacing(";", with: ",")) }
    if let category { fields.append("category " + category) }
    return fields.joined(separator: "; ")
  }

  /// The texts of all sets of parts, by their bits.
  private static let words: [String] = (0..<8).map { bits in
    let words = parts(bits).map(\.rawValue)
    return words.isEmpty ? "nothing" : words.joined(separator: " ")
  }

  private static func parts(_ bits: Int) -> [Part] {
    Part.allCases.filter { PartSet(rawValue: UInt8(bits)).contains(PartSet($0)) }
  }

  /// Reads the output of ``description``; `nil` for any other text.
  package init?(_ text: String) {
    var rest = text[...]
    func field() -> Substring? {
      guard !rest.isEmpty else { return nil }
      // A category is the last field and may contain any characters.
      if rest.hasPrefix("category ") {
        defer { rest = "" }
        return rest
      }
      let end = rest.firstIndex(of: ";") ?? rest.endIndex
      defer { rest = rest[end...].dropFirst().drop { $0 == " " } }
      return rest[..<end]
    }
    guard let words = field(), let bits = RequestedPresentation.words.firstIndex(of: String(words)) else { return nil }
    asked = PartSet(rawValue: UInt8(bits))
    (level, category, device, isMarketing) = (.active, nil, .init(), false)
    while let field = field() {
      if let level = InterruptionLevel(rawValue: String(field)) {
        self.level = level
      } else if field == "silent" {
        device.isSilent = true
      } else if field == "marketing" {
        isMarketing = true
      } else if field.hasPrefix("focus ") {
        device.focus = String(field.dropFirst(6))
      } else if field.hasPrefix("category ") {
        category = String(field.dropFirst(9))
      } else {
        return nil
      }
    }
  }

  /// A push with the same request.
  package var notification: PushNotification {
    var push = PushNotification()
    if asked.contains(.badge) { push.badge = 0 }
    if asked.contains(.sound) { push.sound = .init(name: "default") }
    if asked.contains(.alert) {
      push.alert = .init()
      push.alert?.body = "…"
    }
    (push.level, push.category) = (level, category)
    return push
  }
}
