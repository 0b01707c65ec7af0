import PushPolicy

extension PhoneModel {
  /// Applies a button of the sheet; every button closes the sheet (X5).
  mutating func pick(_ index: Int) -> [PhoneEffect] {
    guard let sheet else { return [] }
    self.sheet = nil
    guard sheet.choices.indices.contains(index) else { return [] }
    let action = sheet.choices[index].id
    switch sheet.purpose {
    case .alert: return group.map { answer([($0.first, action)]) } ?? []
    case .closeAlerts(let limit):
      return answer(alerts(closedBy: action, before: limit).map { ($0, $0.cancellation) }, isRead: false)
    case .snoozeAlerts(let ordinals): snooze(ordinals, Snooze(rawValue: action))
    case .snoozeEntry(let ordinal): snooze([ordinal], Snooze(rawValue: action))
    case .unsubscribeAlert(let push), .unsubscribeEntry(let push): return unsubscribe(from: push)
    case .category(let category, let topic): return permit(action, category: category, topic: topic)
    case .clearAll: clear("Clear All", state.entries.map(\.ordinal))
    case .discardSettings: settings = nil
    case .discardDraft: draft = nil
    }
    return []
  }
}
