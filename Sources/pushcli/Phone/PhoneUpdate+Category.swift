import GatewayProtocol
import PushPolicy

/// The permission of a new category, from an entry of the center.
extension PhoneModel {
  /// Returns the new category of a push about which the user has not decided; nil for any other push.
  func undecidedCategory(of push: DevicePush) -> String? {
    guard let category = push.presentation.newCategory else { return nil }
    return state.preferences.apps[push.topic]?.categories[category]?.isNew == false ? nil : category
  }

  /// Opens a sheet with the permissions for the new category of the selected entry.
  mutating func askAboutCategory() {
    guard let push = selectedEntry?.push, let category = undecidedCategory(of: push) else { return }
    sheet = ActionSheet(
      .category(category, topic: push.topic),
      [
        AlertAction(id: CategoryPermission.show.rawValue, title: "Show"),
        AlertAction(id: CategoryPermission.quiet.rawValue, title: "Keep Quiet"),
        AlertAction(id: CategoryPermission.off.rawValue, title: "Off", isDestructive: true),
      ])
  }

  /// Stores a permission at the gateway.
  mutating func permit(_ permission: String, category: String, topic: String) -> [PhoneEffect] {
    activities.insert(.saving)
    return [.change(PreferencesRequest(settings: ["permission=" + permission], app: topic, category: category))]
  }
}
