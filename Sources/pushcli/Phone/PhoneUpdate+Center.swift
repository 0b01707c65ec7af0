import GatewayProtocol
import TerminalUI

extension PhoneModel {
  // MARK: The search

  mutating func beginSearch() {
    if center.search == nil {
      center.searchedApp = centerRow.map { list, row in
        switch row {
        case .app(let app, _, _): app.topic
        case .thread(let topic, _, _): topic
        case .entry(let index, _): state.entries[index].push.topic
        }
      }
      center.scope = .all
    }
    center.search = center.search ?? ""
    center.isTyping = true
  }

  mutating func endSearch() {
    center.isTyping = false
    if center.search?.isEmpty ?? true, center.scope == .all { center.endSearch() }
  }

  // MARK: Clearing

  mutating func mark() {
    guard let (list, row) = centerRow else { return }
    let members = Set(list.members(of: row, state).ordinals)
    if members.isSubset(of: center.marked) { center.marked.subtract(members) } else { center.marked.formUnion(members) }
    select(.down)
  }

  mutating func read() {
    let chosen = chosenEntries()?.ordinals ?? []
    let unread = chosen.filter { ordinal in state.index(of: ordinal).map { !state.entries[$0].isRead } ?? false }
    if !unread.isEmpty { record(.read(unread)) }
    center.marked = []
  }

  mutating func clear() {
    guard let (title, ordinals) = chosenEntries() else { return }
    clear("Clear \(title)", ordinals)
  }

  /// Returns the ticked entries, or without any the selected ones, with a title.
  private func chosenEntries() -> (title: String, ordinals: [Int])? {
    if screen == .center, !center.marked.isEmpty {
      let count = center.marked.count
      return (count == 1 ? "1 Notification" : "\(count) Notifications", center.marked.sorted())
    }
    if case .app = screen { return selectedEntry.map { ($0.push.quotedHeadline, [$0.ordinal]) } }
    return centerRow.map { $0.list.members(of: $0.row, state) }
  }

  mutating func clear(_ title: String, _ ordinals: [Int]) {
    let gone = Set(ordinals)
    let entries = state.entries.filter { gone.contains($0.ordinal) }
    guard !entries.isEmpty else { return }
    record(.cleared(entries.map(\.ordinal)))
    (undo, redo) = (Undo(title: title, entries: entries), nil)
    center.marked.subtract(gone)
    if case .app(let topic, let selected) = screen {
      if selected.map(gone.contains) ?? false { go(.app(topic: topic, selected: nil)) }
      reading = Reading()
    }
    notice = "\(title.replacing("Clear", with: "Cleared")) · \(isPlain ? "undo" : "u") undoes it"
  }

  mutating func undoClear() {
    guard let undo else { return }
    record(.restored(undo.entries))
    notice = "Undid \(undo.title) · \(isPlain ? "redo" : "U") does it again"
    (self.undo, redo) = (nil, undo)
  }

  mutating func redoClear() {
    guard let redo else { return }
    clear(redo.title, redo.entries.map(\.ordinal))
    self.redo = nil
  }
}

extension CenterPosition {
  /// Ends the search and shows all entries again.
  mutating func endSearch() { (isTyping, search, scope, searchedApp) = (false, nil, .all, nil) }
}

extension DevicePush {
  /// The headline in quotes, for messages about clearing and reporting.
  var quotedHeadline: String { "“\(TextLayout.truncated(summary.headline, columns: 24))”" }
}
