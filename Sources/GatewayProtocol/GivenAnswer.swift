import PushPolicy

/// An answer that removes a push from other screens, and the user or device that sent it.
package struct GivenAnswer: Sendable, Equatable {
  /// `view`, `close`, `ok` or the action of a category.
  package var action: String
  /// The user's name, if another user than the device's own has answered.
  package var person: String?
  /// The name of the device, if it belongs to the same user.
  package var device: String?

  package init(action: String, person: String? = nil, device: String? = nil) {
    (self.action, self.person, self.device) = (action, person, device)
  }

  /// Reads the members of a `retract` line; nil if it contains no answer.
  init?(_ line: JSONElement) {
    guard let action = line["action"]?.string else { return nil }
    self.init(action: action, person: line["person"]?.string, device: line["device"]?.string)
  }
}
