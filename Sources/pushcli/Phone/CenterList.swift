import GatewayProtocol
import PushPolicy
import TerminalUI

/// The temporary state of the center: selection, ticks and search.
struct CenterPosition: Sendable, Equatable {
  /// The selected row; `nil` selects the first.
  var selected: CenterKey?
  /// The index of the selected row, which is used if the row has disappeared.
  var index = 0
  /// The ordinals of the entries that are ticked, for clearing several at once (L8).
  var marked: Set<Int> = []
  /// The search text; `nil` shows everything.
  var search: String?
  /// The part of the center that is searched.
  var scope = CenterScope.all
  /// The topic of the app that was selected when the search began.
  var searchedApp: String?
  /// True while keys are typed into the search.
  var isTyping = false
}

/// Identifies a row of the center.
enum CenterKey: Sendable, Hashable {
  case app(String)
  case thread(topic: String, id: String)
  case entry(Int)
}

/// The rows of the center: the received pushes by app and thread, newest first.
struct CenterList {
  enum Row: Sendable, Equatable {
    case app(DeviceApp, count: Int, unread: Int)
    case thread(topic: String, id: String, count: Int)
    /// The index of the entry in ``PhoneState/entries``, and its ordinal.
    case entry(Int, ordinal: Int)

    var key: CenterKey {
      switch self {
      case .app(let app, _, _): .app(app.topic)
      case .thread(let topic, let id, _): .thread(topic: topic, id: id)
      case .entry(_, let ordinal): .entry(ordinal)
      }
    }
  }

  private(set) var rows: [Row] = []

  /// Creates the rows of the entries that match a search.
  ///
  /// - Parameter found: The rows of an earlier search that include all matches of this one.
  init(_ state: PhoneState, _ search: CenterSearch, within found: CenterList? = nil) {
    var topics: [String] = []
    var byTopic: [String: [Int]] = [:]
    let candidates = found.map { $0.entries.sorted(by: >) } ?? Array(state.entries.indices.reversed())
    for index in candidates where search.finds(state.entries[index]) {
      let topic = state.entries[index].push.app.topic
      let count = byTopic[topic, default: []].count
      if count == 0 { topics.append(topic) }
      byTopic[topic, default: []].append(index)
    }
    rows.reserveCapacity(state.entries.count + 2 * topics.count)
    for topic in topics {
      let indices = byTopic[topic] ?? []
      let app = state.app(topic)?.app ?? state.entries[indices[0]].push.app
      rows.append(.app(app, count: indices.count, unread: indices.count { !state.entries[$0].isRead }))
      append(indices, of: topic, state)
    }
  }

  /// Appends the entries of an app. A thread is placed at its newest entry; entries without a thread stay separate.
  private mutating func append(_ indices: [Int], of topic: String, _ state: PhoneState) {
    var byThread: [String: [Int]] = [:]
    var order: [(thread: String, index: Int)] = []
    for index in indices {
      let thread = state.entries[index].push.threadID
      if thread.isEmpty || byThread[thread] == nil { order.append((thread, index)) }
      if !thread.isEmpty { byThread[thread, default: []].append(index) }
    }
    for (thread, index) in order {
      let members = thread.isEmpty ? [index] : byThread[thread] ?? []
      if !thread.isEmpty { rows.append(.thread(topic: topic, id: thread, count: members.count)) }
      for member in members { rows.append(.entry(member, ordinal: state.entries[member].ordinal)) }
    }
  }

  /// The indices of the list's entries in ``PhoneState/entries``.
  private var entries: [Int] { rows.compactMap { if case .entry(let index, _) = $0 { index } else { nil } } }

  /// Returns the index of the next or the previous row of an app.
  func appIndex(from index: Int, by step: Int) -> Int? {
    func isApp(_ index: Int) -> Bool { if case .app = rows[index] { true } else { false } }
    return step > 0
      ? rows.indices.first { $0 > index && isApp($0) } : rows.indices.last { $0 < index && isApp($0) }
  }

  /// Returns the index of the selected row, or its last index if the row has disappeared.
  func selectedIndex(_ position: CenterPosition) -> Int {
    let place = position.selected.flatMap { key in
      // Usually the row has not moved.
      rows.indices.contains(position.index) && rows[position.index].key == key
        ? position.index : rows.firstIndex { $0.key == key }
    }
    return place ?? min(max(position.index, 0), max(rows.count - 1, 0))
  }

  /// Returns the ordinals of the entries that a row represents, and their common title.
  func members(of row: Row, _ state: PhoneState) -> (title: String, ordinals: [Int]) {
    switch row {
    case .app(let app, _, _):
      return (app.name, entries(state) { $0.topic == app.topic })
    case .thread(let topic, let id, _):
      return (id, entries(state) { $0.topic == topic && $0.threadID == id })
    case .entry(let index, let ordinal):
      return ("“\(TextLayout.truncated(state.entries[index].push.summary.headline, columns: 24))”", [ordinal])
    }
  }

  private func entries(_ state: PhoneState, _ isMember: (DevicePush) -> Bool) -> [Int] {
    rows.compactMap { row in
      guard case .entry(let index, let ordinal) = row, isMember(state.entries[index].push) else { return nil }
      return ordinal
    }
  }
}
