import GatewayProtocol
import PushPolicy
import TerminalUI

extension PhoneModel {
  /// The key bindings that apply now, most important first: the only table for matching and for the help. It contains
  /// only actions that are possible for the selection.
  var keyBindings: [KeyBinding] {
    let leave = KeyBinding("^C", "quit", .quit, keys: [.control("c"), .control("d")])
    let help = KeyBinding("?", "keys", .help, keys: [.character("?")])
    guard size.holdsPhone || isAlertShown else {
      return [KeyBinding("q", "quit", .quit, keys: [.character("q"), .control("c"), .control("d")])]
    }
    if let sheet = sheetInFront { return Self.sheetBindings(sheet) + [leave, help] }
    let toAlert = isElsewhere ? [KeyBinding("esc", "alert", .attendAlert, keys: [.escape, .tab])] : []
    if let group, !isElsewhere { return alertBindings(group) + [leave, help] }
    if draft != nil { return toAlert + draftBindings(except: toAlert) }
    if let settings {
      return settings.typing == nil
        ? settingsBindings(settings) + [help] : toAlert + Self.editBindings(except: toAlert)
    }
    if center.isTyping, screen == .center { return toAlert + Self.searchBindings(except: toAlert) }
    return screenBindings + common + [help]
  }

  /// Returns the command of `key`. While an alert has just appeared, only the keys that quit have a command.
  func command(for key: Key) -> PhoneCommand? {
    for binding in keyBindings {
      if let command = binding.commands[key] { return isTooSoon && command != .quit ? nil : command }
    }
    if isEditing, alerts.isEmpty || isElsewhere, sheet == nil, case .character(let character) = key {
      return .type(character)
    }
    return nil
  }

  /// True if the alert on screen has just appeared.
  var isTooSoon: Bool { isAlertShown && !isElsewhere && attention?.isReady != true }

  private var screenBindings: [KeyBinding] {
    let noted =
      state.droppedCount > 0 ? [KeyBinding("n", "noted", .dismissNotice, keys: [.character("n")])] : []
    switch screen {
    case .home:
      let open = KeyBinding("↵", "open", .open, keys: [.return, .character(" ")])
      return noted + (apps.isEmpty ? [] : [open] + Self.arrows("←↑↓→", "select", all: true))
    case .center: return undoBindings + noted + centerBindings
    case .app: return undoBindings + appBindings + noted
    }
  }

  /// The bindings of all screens.
  private var common: [KeyBinding] {
    var bindings: [KeyBinding] = []
    if case .disconnected = connection { bindings.append(KeyBinding("r", "try now", .retry, keys: [.character("r")])) }
    if canCompose, !apps.isEmpty { bindings.append(KeyBinding("w", "compose", .compose, keys: [.character("w")])) }
    return bindings + [
      KeyBinding("s", state.settings.isSilent ? "ring" : "silent", .toggleSilent, keys: [.character("s")]),
      KeyBinding("1", "home", [.character("1"): .show(.home), .tab: .show(screen == .home ? .center : .home)]),
      KeyBinding("2", "center", .show(.center), keys: [.character("2")]),
      KeyBinding("3", "settings", .show(.settings), keys: [.character("3")]),
      KeyBinding("q", "quit", .quit, keys: [.character("q"), .control("c"), .control("d")]),
      KeyBinding(
        "M", state.settings.usesMouse ? "mouse selects text" : "mouse clicks", .toggleMouse, keys: [.character("M")]),
    ]
  }

  private static func arrows(_ label: String, _ help: String, all: Bool) -> [KeyBinding] {
    var keys: [Key: PhoneCommand] = [.up: .select(.up), .down: .select(.down)]
    if all { keys.merge([.left: .select(.left), .right: .select(.right)]) { $1 } }
    return [
      KeyBinding(label, help, keys),
      KeyBinding(
        "PgUp PgDn Home End", "page, ends",
        [.pageUp: .select(.pageUp), .pageDown: .select(.pageDown), .home: .select(.first), .end: .select(.last)]),
    ]
  }

  private static let scrolling = [
    KeyBinding("↑↓", "scroll", [.up: .scroll(.up), .down: .scroll(.down)]),
    KeyBinding(
      "PgUp PgDn Home End", "page, ends",
      [.pageUp: .scroll(.pageUp), .pageDown: .scroll(.pageDown), .home: .scroll(.first), .end: .scroll(.last)]),
  ]

  // MARK: Screens

  /// The bindings that undo and redo, whose texts are always shown in full (L5).
  var undoBindings: [KeyBinding] {
    undoTitles.map { key, title in
      var binding = KeyBinding(String(key), title, key == "u" ? .undo : .redo, keys: [.character(key)])
      binding.isWhole = true
      return binding
    }
  }

  private var centerBindings: [KeyBinding] {
    let search = KeyBinding("/", "search", .search, keys: [.character("/")])
    let leave: [KeyBinding] =
      center.search != nil
      ? [
        KeyBinding("esc", "all", .cancelSearch, keys: [.escape]),
        KeyBinding("⇥", "where", [.tab: .turnScope(1), .backTab: .turnScope(-1)]),
      ]
      : [KeyBinding("esc", "home", .back, keys: [.escape, .backspace])]
    guard let (list, row) = centerRow else { return [search] + leave }
    let isUnread = center.marked.isEmpty ? isAnyUnread(list, row) : true
    let clear = [
      KeyBinding("↵", "open", .open, keys: [.return]),
      KeyBinding("d", center.marked.isEmpty ? "clear" : "clear ticked", .clear, keys: [.character("d"), .delete]),
    ]
    let rest = [
      search, KeyBinding("␣", "tick", .mark, keys: [.character(" ")]),
      KeyBinding(
        "←→", "app",
        [.left: .jump(-1), .right: .jump(1), .character("["): .jump(-1), .character("]"): .jump(1)]),
      KeyBinding("D", "clear all", .clearAll, keys: [.character("D")]),
    ]
    let read = isUnread ? [KeyBinding("m", "mark read", .read, keys: [.character("m")])] : []
    return clear + read + rest + messageBindings + leave + Self.arrows("↑↓", "select", all: false)
  }

  private func isAnyUnread(_ list: CenterList, _ row: CenterList.Row) -> Bool {
    switch row {
    case .app(_, _, let unread): unread > 0
    case .thread:
      list.members(of: row, state).ordinals.contains { state.index(of: $0).map { !state.entries[$0].isRead } ?? false }
    case .entry(let index, _): !state.entries[index].isRead
    }
  }

  private var appBindings: [KeyBinding] {
    let back = KeyBinding("esc", "back", .back, keys: [.escape, .backspace])
    guard selectedEntry != nil else { return [back] }
    let fold = KeyBinding(
      "p", reading.showsPayload ? "fold payload" : "payload", .foldPayload, keys: [.character("p")])
    let clear = KeyBinding("d", "clear", .clear, keys: [.character("d"), .delete])
    if reading.isOpen {
      let others = KeyBinding("←→", "newer, older", [.left: .select(.up), .right: .select(.down)])
      return [back, Self.scrolling[0]] + messageBindings + [fold, clear, others, Self.scrolling[1]]
    }
    return [back, KeyBinding("↵", "read", .open, keys: [.return, .character(" ")])] + messageBindings
      + [clear, fold] + Self.arrows("↑↓", "select", all: false)
  }

  /// The bindings for the selected push.
  private var messageBindings: [KeyBinding] {
    guard let push = selectedEntry?.push else { return [] }
    let link = push.link == nil ? [] : [KeyBinding("o", "open link", .openLink, keys: [.character("o")])]
    let file: [KeyBinding] =
      push.attachment == nil ? [] : [KeyBinding("f", "save file", .saveAttachment, keys: [.character("f")])]
    let copy = KeyBinding("y", "copy", .copy, keys: [.character("y")])
    let report =
      push.presentation.listed == nil ? [] : [KeyBinding("a", "report ad", .reportAd, keys: [.character("a")])]
    let snooze = push.presentation.listed == nil ? [] : [Self.snoozing]
    let preferences: [KeyBinding] = choosing(push) + unsubscribing(push)
    let links: [KeyBinding] = link + file
    return links + [copy] + report + snooze + preferences
  }

  private static func searchBindings(except taken: [KeyBinding]) -> [KeyBinding] {
    free(
      [
        KeyBinding("↵", "search", .endSearch, keys: [.return, .down]),
        KeyBinding("⇥", "where", [.tab: .turnScope(1), .backTab: .turnScope(-1)]),
        KeyBinding("esc", "all", .cancelSearch, keys: [.escape, .control("c")]),
        KeyBinding("⌫", "erase", .erase, keys: [.backspace]),
      ], except: taken)
  }

  // MARK: Modal views

  private func settingsBindings(_ settings: SettingsDraft) -> [KeyBinding] {
    let edit =
      settings.isText(state) ? [KeyBinding("e", "edit", .edit, keys: [.character("e")])] : []
    return [
      KeyBinding("d", "Done", .done, keys: [.character("d")]),
      KeyBinding("esc", "Cancel", .cancel, keys: [.escape, .character("c"), .character("q"), .control("c")]),
      KeyBinding("␣", "change", [.character(" "): .turn(1), .return: .turn(1), .right: .turn(1), .left: .turn(-1)]),
    ] + edit + Self.arrows("↑↓", "select", all: false) + [
      KeyBinding("[ ]", "app", [.character("["): .jump(-1), .character("]"): .jump(1)])
    ]
  }

  private static func editBindings(except taken: [KeyBinding]) -> [KeyBinding] {
    free(
      [
        KeyBinding("↵", "take", .endEdit, keys: [.return]),
        KeyBinding("esc", "as it was", .cancelEdit, keys: [.escape, .control("c")]),
        KeyBinding("⌫", "erase", .erase, keys: [.backspace]),
      ], except: taken)
  }

  private func draftBindings(except taken: [KeyBinding]) -> [KeyBinding] {
    guard let draft else { return [] }
    let turn = draft.field == .app ? [KeyBinding("←→", "app", [.left: .nextApp(-1), .right: .nextApp(1)])] : []
    let enter =
      draft.field == .send
      ? KeyBinding("↵", "Send", .send, keys: [.return]) : KeyBinding("↵", "next", .nextField(1), keys: [.return])
    return Self.free(
      [
        enter, KeyBinding("^S", "Send", .send, keys: [.control("s")]),
        KeyBinding("esc", "Cancel", .cancelDraft, keys: [.escape, .control("c")]),
      ] + turn + [
        KeyBinding(
          "↑↓", "field", [.up: .nextField(-1), .down: .nextField(1), .tab: .nextField(1), .backTab: .nextField(-1)]),
        KeyBinding("⌫", "erase", .erase, keys: [.backspace]),
      ], except: taken)
  }

  /// Returns bindings without the keys that other bindings use.
  private static func free(_ bindings: [KeyBinding], except others: [KeyBinding]) -> [KeyBinding] {
    let taken = Set(others.flatMap(\.commands.keys))
    return bindings.compactMap { binding in
      var binding = binding
      binding.commands = binding.commands.filter { !taken.contains($0.key) }
      return binding.commands.isEmpty ? nil : binding
    }
  }

  private static func sheetBindings(_ sheet: ActionSheet) -> [KeyBinding] {
    [
      KeyBinding("↵", "pick", .pressFocused, keys: [.return, .character(" ")]),
      KeyBinding("esc", sheet.titles.last ?? "", .press(sheet.choices.count), keys: [.escape, .character("c")]),
      KeyBinding(
        "↑↓", "select", [.up: .focus(-1), .down: .focus(1), .tab: .focus(1), .backTab: .focus(-1)]),
      KeyBinding(
        "1–\(sheet.titles.count)", "pick",
        Dictionary(
          uniqueKeysWithValues: sheet.titles.indices.map { (Key.character(Character(String($0 + 1))), .press($0)) })),
    ]
  }

  /// The binding for the permission of the new category of a push; empty if the category has one.
  private func choosing(_ push: DevicePush) -> [KeyBinding] {
    undecidedCategory(of: push) == nil
      ? [] : [KeyBinding("c", "new category …", .permitCategory, keys: [.character("c")])]
  }

  /// The binding that ends the marketing of the push's app; empty if it sends none.
  private func unsubscribing(_ push: DevicePush) -> [KeyBinding] {
    offersUnsubscribing(from: push)
      ? [KeyBinding("x", "unsubscribe …", .unsubscribe, keys: [.character("x")])] : []
  }

  private static let snoozing = KeyBinding("z", "later …", .snooze, keys: [.character("z")])

  private func alertBindings(_ group: AlertGroup) -> [KeyBinding] {
    let isLong = !AlertView(group, self, size: size).viewport.isWhole
    let home = KeyBinding(
      "1", "home", .leaveAlert, keys: isLong ? [.character("1")] : [.character("1"), .home])
    let several =
      alerts.count > 1 ? [KeyBinding("C", "close all …", .closeAlerts, keys: [.character("C")])] : []
    let scrolling = isLong ? Self.scrolling : []
    let unsubscribing = unsubscribing(group.first.push)
    let rest = several + scrolling + [home, Self.snoozing] + unsubscribing
    let last: [KeyBinding] = unsubscribing + scrolling.dropFirst()
    let choices = group.choices
    if choices.count == 1 {
      let keys: [Key] = [.return, .escape, .character("o"), .character("c"), .character(" ")]
      return [KeyBinding("o", choices[0].title, .press(0), keys: keys)] + rest
    }
    let cancel = choices.firstIndex { $0.id == "close" } ?? 0
    return [
      KeyBinding("c", choices[cancel].title, .press(cancel), keys: [.character("c"), .escape]),
      KeyBinding("v", choices[1 - cancel].title, .press(1 - cancel), keys: [.character("v")]),
    ] + several + scrolling.prefix(1) + [
      KeyBinding("↵", "press", .pressFocused, keys: [.return]),
      KeyBinding("←→", "focus", [.left: .focus(-1), .right: .focus(1), .tab: .focus(1), .backTab: .focus(-1)]), home,
      Self.snoozing,
    ] + last
  }
}
