import GatewayProtocol
import TerminalUI

extension PhoneModel {
  // MARK: Navigation

  mutating func show(_ tab: PhoneCommand.Tab) {
    switch tab {
    case .home: go(.home)
    case .center: go(.center)
    case .settings: settings = SettingsDraft()
    }
  }

  mutating func go(_ screen: PhoneState.Screen) {
    var place = state.place
    place.screen = screen
    record(.place(place))
    reading = Reading()
  }

  /// Returns from an open message to the list of its app and then to the home screen, or to the center if it was
  /// opened there.
  mutating func goBack() {
    if case .app = screen, reading.isOpen || reading.isFromCenter {
      if reading.isFromCenter { return go(.center) }
      (reading.isOpen, reading.offset) = (false, 0)
    } else {
      go(.home)
    }
  }

  /// - Parameter readsAll: True if the user opened the app as a whole; false marks only the shown message as read.
  mutating func openApp(_ topic: String, selected: Int?, readsAll: Bool) {
    record(.place(PhoneState.Place(screen: .app(topic: topic, selected: selected), selectedTopic: topic)))
    reading = Reading()
    guard readsAll else { return readSelected() }
    let unread = state.entries(of: topic).filter { !$0.isRead }.map(\.ordinal)
    if !unread.isEmpty { record(.read(unread)) }
  }

  /// Marks the message on an app's screen as read.
  private mutating func readSelected() {
    if let entry = selectedEntry, !entry.isRead { record(.read([entry.ordinal])) }
  }

  /// Opens the selection: an app, or a message for reading.
  mutating func open() {
    switch screen {
    case .home:
      guard apps.indices.contains(selectedIndex) else { return }
      openApp(apps[selectedIndex].app.topic, selected: nil, readsAll: true)
    case .center:
      guard let (list, row) = centerRow else { return }
      switch row {
      case .app(let app, _, _): openApp(app.topic, selected: nil, readsAll: true)
      case .thread(let topic, _, _):
        openApp(topic, selected: list.members(of: row, state).ordinals.first, readsAll: false)
      case .entry(let index, let ordinal):
        openApp(state.entries[index].push.topic, selected: ordinal, readsAll: false)
        reading = Reading(isOpen: true)
      }
      reading.isFromCenter = true
    case .app: if selectedEntry != nil { reading.isOpen = true }
    }
  }

  // MARK: Selecting

  mutating func select(_ step: PhoneCommand.Step) {
    if settings != nil { return selectSetting(step) }
    switch screen {
    case .home:
      guard !apps.isEmpty else { return }
      let grid = HomeGrid(size: size, apps: apps)
      selectApp(min(max(selectedIndex + grid.distance(of: step), 0), apps.count - 1))
    case .center:
      let list = centerList
      guard !list.rows.isEmpty else { return }
      select(step.target(from: list.selectedIndex(center), count: list.rows.count, page: centerPageSize), of: list)
    case .app(let topic, let selected):
      let entries = state.entries(of: topic)
      guard !entries.isEmpty else { return }
      let current = entries.firstIndex { $0.ordinal == selected } ?? 0
      let target = step.target(from: current, count: entries.count, page: max(size.rows / 4, 1))
      select(target == 0 ? nil : entries[target].ordinal, topic: topic)
    }
  }

  private mutating func select(_ index: Int, of list: CenterList) {
    (center.index, center.selected) = (index, list.rows[index].key)
  }

  /// Selects another push of an app, and keeps the reading mode.
  private mutating func select(_ ordinal: Int?, topic: String) {
    let before = reading
    go(.app(topic: topic, selected: ordinal))
    reading = Reading(isOpen: before.isOpen, showsPayload: before.showsPayload, isFromCenter: before.isFromCenter)
    readSelected()
  }

  private mutating func selectApp(_ index: Int) {
    var place = state.place
    place.selectedTopic = apps[index].app.topic
    record(.place(place))
  }

  /// Selects the clicked row.
  mutating func choose(_ key: CenterKey) {
    switch (screen, key) {
    case (.home, .app(let topic)):
      if let index = apps.firstIndex(where: { $0.app.topic == topic }) { selectApp(index) }
    case (.home, .entry(let ordinal)):
      guard let index = state.index(of: ordinal) else { return }
      openApp(state.entries[index].push.topic, selected: ordinal, readsAll: false)
      reading.isOpen = true
    case (.center, _):
      let list = centerList
      if let index = list.rows.firstIndex(where: { $0.key == key }) { select(index, of: list) }
    case (.app(let topic, _), .entry(let ordinal)): select(ordinal, topic: topic)
    default: break
    }
  }

  /// Moves to the next or the previous app of the center or of the settings.
  mutating func jump(_ step: Int) {
    if settings != nil {
      settings?.jump(step, state)
    } else if screen == .center {
      let list = centerList
      if let index = list.appIndex(from: list.selectedIndex(center), by: step) { select(index, of: list) }
    }
  }

  // MARK: Reading

  /// Scrolls the text of the alert or of the message.
  mutating func scroll(_ step: PhoneCommand.Step) {
    if isAlertShown, !isElsewhere, let group {
      let viewport = AlertView(group, self, size: size).viewport
      alertOffset = step.offset(in: viewport)
    } else if let viewport = appScreen?.viewport {
      reading.offset = step.offset(in: viewport)
    }
  }

  /// Unfolds the payload and makes it visible, or folds it.
  mutating func foldPayload() {
    reading.showsPayload.toggle()
    guard reading.showsPayload, let screen = appScreen, let fold = screen.fold else {
      reading.offset = 0
      return
    }
    if screen.viewport.range.upperBound < screen.viewport.count { reading.offset = fold }
    reading.isOpen = true
  }
}

extension PhoneCommand.Step {
  /// Returns the index in a list to which the step leads.
  func target(from index: Int, count: Int, page: Int) -> Int {
    let target =
      switch self {
      case .up, .left: index - 1
      case .down, .right: index + 1
      case .pageUp: index - page
      case .pageDown: index + page
      case .first: 0
      case .last: count - 1
      }
    return min(max(target, 0), max(count - 1, 0))
  }

  /// Returns the new offset in a text. A page keeps one line visible, and the end stays the end if the size changes.
  func offset(in viewport: Viewport) -> Int {
    let line = target(from: viewport.first, count: viewport.last + 1, page: max(viewport.rows - 1, 1))
    return line == viewport.last && line > 0 ? .max : line
  }
}

extension Key {
  /// The scroll step of the key.
  var step: PhoneCommand.Step? {
    switch self {
    case .up: .up
    case .down: .down
    case .pageUp: .pageUp
    case .pageDown: .pageDown
    case .home: .first
    case .end: .last
    default: nil
    }
  }
}
