import PushPolicy

/// An answer that takes a push off other screens, and who gave it.
package struct GivenAnswer: Sendable, Equatable {
  /// `view`, `close`, `ok` or the action of a category.
  package var action: String
  /// The person's name, where another person than the device's own has answered.
  package var person: String?
  /// The name of the device, where it is the same person's.
  package var device: String?

  package init(action: String, person: String? = nil, device: String? = nil) {
    (self.action, self.person, self.device) = (action, person, device)
  }

  /// From the members of a `retract` line; nil where nobody has answered.
  init?(_ line: JSONElement) {
    guard let action = line["action"]?.string else { return nil }
    self.init(action: action, person: line["person"]?.string, device: line["device"]?.string)
  }
}
