import GatewayProtocol
import PushPolicy
import TerminalUI

extension PhoneModel {
  /// The current rows of the center.
  var centerList: CenterList {
    centerMemo.list(state, CenterSearch(text: center.search ?? "", scope: center.scope))
  }

  /// The selected row, and its list.
  var centerRow: (list: CenterList, row: CenterList.Row)? {
    let list = centerList
    guard !list.rows.isEmpty else { return nil }
    return (list, list.rows[list.selectedIndex(center)])
  }

  /// The selected push; nil if the selection is not a push.
  var selectedEntry: PhoneState.Entry? {
    switch screen {
    case .home: return nil
    case .app(let topic, let selected):
      if let selected, let index = state.index(of: selected) { return state.entries[index] }
      return state.entries.last { $0.push.app.topic == topic }
    case .center:
      guard case .entry(let index, _)? = centerRow?.row else { return nil }
      return state.entries[index]
    }
  }

  /// The parts that can be searched now, including the app that was selected when the search began.
  var centerScopes: [CenterScope] {
    let app = center.searchedApp.map { [CenterScope.app($0)] } ?? []
    return [.all, .unread] + app + InterruptionLevel.allCases.reversed().map { .level($0) }
  }

  /// Returns the name of a part for the bar above the list.
  func title(of scope: CenterScope) -> String {
    switch scope {
    case .all: "All"
    case .unread: "Unread"
    case .app(let topic): state.app(topic)?.app.name ?? topic
    case .level(.critical): "Critical"
    case .level(.timeSensitive): "Time-Sensitive"
    case .level(.active): "Active"
    case .level(.passive): "Passive"
    }
  }
}
