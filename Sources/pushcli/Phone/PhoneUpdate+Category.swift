import GatewayProtocol
import PushPolicy

/// The choice about a new category, from an entry of the center.
extension PhoneModel {
  /// Returns the new category of a push about which the user has not decided; nil for any other push.
  func undecidedCategory(of push: DevicePush) -> String? {
    guard let category = push.presentation.newCategory else { return nil }
    return state.preferences.apps[push.topic]?.categories[category]?.isNew == false ? nil : category
  }

  /// Opens a sheet with the choices about the new category of the selected entry.
  mutating func askAboutCategory() {
    guard let push = selectedEntry?.push, let category = undecidedCategory(of: push) else { return }
    sheet = ActionSheet(
      .category(category, topic: push.topic),
      [
        AlertAction(id: CategoryChoice.show.rawValue, title: "Show"),
        AlertAction(id: CategoryChoice.quiet.rawValue, title: "Keep Quiet"),
        AlertAction(id: CategoryChoice.off.rawValue, title: "Off", isDestructive: true),
      ])
  }

  /// Stores a choice at the gateway.
  mutating func choose(_ choice: String, category: String, topic: String) -> [PhoneEffect] {
    activities.insert(.saving)
    return [.change(PreferencesRequest(settings: ["choice=" + choice], app: topic, category: category))]
  }
}
