import GatewayProtocol
import PushCore
import PushPolicy
import TerminalUI

/// The lists of the center, of an app and of a search, and the details of a push.
extension PlainPhone {
  // MARK: Lists

  /// Lists the rows of the center that match a search.
  mutating func listCenter(_ text: String = "", in scope: CenterScope = .all) {
    (phone.center.search, phone.center.scope) = (text, scope)
    let list = phone.centerList
    phone.center.endSearch()
    var rows: [PlainRow] = []
    pushes = []
    for row in list.rows {
      switch row {
      case .app(let app, let count, let unread):
        rows.append(.header("\(app.name), \(unread > 0 ? "\(unread) unread of \(count)" : "\(count)")"))
      case .thread(_, let id, let count): rows.append(.header("Thread \(id), \(count)"))
      case .entry(_, let ordinal):
        pushes.append(ordinal)
        rows.append(.push(number: pushes.count, ordinal: ordinal))
      }
    }
    let isSearch = !text.isEmpty || scope != .all
    show(rows, orElse: isSearch ? "Nothing found." : "Nothing to read: alerts are kept here when they were answered.")
  }

  /// Lists all pushes of an app, also those without a text.
  mutating func listApp(_ name: String) {
    guard let app = app(name) else { return say(unknownApp(name)) }
    let entries = state.entries(of: app.topic)
    list(
      entries.map(\.ordinal), header: "\(app.name), \(counted(entries.count, "push", "pushes"))",
      orElse: "No pushes yet.")
  }

  /// Lists the pending alerts, the one in front first.
  mutating func listAlerts() {
    list(
      phone.alerts.map(\.ordinal),
      header: "\(counted(phone.alerts.count, "alert")) \(phone.alerts.count == 1 ? "waits" : "wait")",
      orElse: "No alert is pending.")
  }

  private mutating func list(_ ordinals: [Int], header: String, orElse words: String) {
    pushes = ordinals
    let rows = ordinals.enumerated().map { PlainRow.push(number: $0 + 1, ordinal: $1) }
    show(rows.isEmpty ? [] : [.header(header)] + rows, orElse: words)
  }

  private mutating func show(_ rows: [PlainRow], orElse words: String) {
    subject = .pushes
    guard !rows.isEmpty else {
      (subject, rest) = (.nothing, .nothing)
      return say(words)
    }
    show(rows[...], under: "")
  }

  /// Prints one page of rows, and keeps the rest for `more`.
  private mutating func show(_ rows: ArraySlice<PlainRow>, under header: String) {
    var (rows, header, count) = (rows, header, 0)
    if case .push? = rows.first, !header.isEmpty { say("\(header), continued:") }
    while count < PlainPhone.pagePushes, let row = rows.popFirst() {
      switch row {
      case .header(let text):
        header = TextLayout.truncated(text, columns: columns)
        say("\(header):")
      case .push(let number, let ordinal):
        count += 1
        say(entry(ordinal: ordinal).map { line(number: number, of: $0) } ?? "\(number). gone")
      }
    }
    rest = rows.isEmpty ? .nothing : .rows(rows, header: header)
    guard !rows.isEmpty else { return }
    let left = rows.count { if case .push = $0 { true } else { false } }
    say("\(left) of \(pushes.count) are left: more prints them")
  }

  /// Prints the next page.
  mutating func showMore() {
    switch rest {
    case .nothing: say("There is no more.")
    case .lines(let lines): say(page: Array(lines))
    case .rows(let rows, let header): show(rows, under: header)
    }
  }

  // MARK: One push

  /// Returns the entry with a number in the list, or the one that was read last; nil with a message if there is none.
  mutating func entry(_ number: Int?) -> PhoneState.Entry? {
    guard let number else {
      if let entry = opened.flatMap({ entry(ordinal: $0) }) { return entry }
      return refuse("which push? Type its number in the list, which center prints")
    }
    guard let ordinal = ordinal(number) else { return nil }
    guard let entry = entry(ordinal: ordinal) else {
      return refuse("push \(number) is gone: it was cleared, or a later one replaced it; center prints the list again")
    }
    return entry
  }

  /// Returns the push at a number of the list; nil with a message if there is none.
  mutating func ordinal(_ number: Int) -> Int? {
    guard !pushes.isEmpty else {
      return refuse("no push \(number): nothing is listed yet, center lists the pushes")
    }
    guard pushes.indices.contains(number &- 1), number > 0 else {
      return refuse("no push \(number): the list has 1 to \(pushes.count)")
    }
    return pushes[number - 1]
  }

  /// Prints all of a push and marks it as read.
  mutating func open(_ number: Int?) {
    guard let entry = entry(number) else { return }
    opened = entry.ordinal
    say(page: message(entry, number: pushes.firstIndex(of: entry.ordinal).map { $0 + 1 }))
    if !entry.isRead { phone.record(.read([entry.ordinal])) }
  }

  mutating func showPayload(_ number: Int?) {
    guard let entry = entry(number) else { return }
    say(page: TextLayout.wrapped(entry.push.payload, columns: columns))
  }

  mutating func openLink(_ number: Int?) -> [PhoneEffect] {
    guard let push = entry(number)?.push else { return [] }
    guard let link = push.link else {
      return refuse("this push has no link")
    }
    say("Opening \(link)")
    return [.openLink(push)]
  }

  mutating func saveAttachment(_ number: Int?) -> [PhoneEffect] {
    guard let push = entry(number)?.push else { return [] }
    guard let attachment = push.attachment else { return refuse("this push has no attachment") }
    guard case .connected = phone.connection else {
      return refuse("not connected: the attachment can't be read now")
    }
    phone.activities.insert(.saving)
    return [.saveAttachment(attachment)]
  }

  mutating func copy(_ number: Int?) -> [PhoneEffect] {
    entry(number).map { [.copy($0.push.copiedText)] } ?? []
  }

  mutating func report(_ number: Int?) -> [PhoneEffect] {
    guard let push = entry(number)?.push else { return [] }
    guard push.presentation.listed != nil else {
      return refuse("this push has no text that could advertise")
    }
    guard case .connected = phone.connection else {
      return refuse("not connected: it can't be reported now")
    }
    phone.activities.insert(.reporting)
    return [.reportAd(push)]
  }

  /// Ends the marketing of the app of a push; without a number, of the alert that is asked or the push that was read last.
  mutating func unsubscribe(_ number: Int?) -> [PhoneEffect] {
    var found = number == nil ? phone.alerts.first?.push : nil
    if found == nil { found = entry(number)?.push }
    guard let push = found else { return [] }
    guard phone.offersUnsubscribing(from: push) else {
      return refuse("\(push.app.name) sends no marketing, or its marketing is off already")
    }
    guard case .connected = phone.connection else { return refuse("not connected: it can't be saved now") }
    return phone.unsubscribe(from: push)
  }

  // MARK: Several pushes

  /// Returns the pushes that `clear` and `mark` apply to, and a title for them.
  private mutating func chosen(_ rest: PlainLine.Rest) -> (title: String, ordinals: [Int])? {
    switch rest {
    case .nothing: return nil
    case .numbers(let numbers):
      var ordinals: [Int] = []
      for number in numbers {
        guard let ordinal = ordinal(number) else { return nil }
        ordinals.append(ordinal)
      }
      if ordinals.count == 1 { return entry(numbers[0]).map { ($0.push.quotedHeadline, ordinals) } }
      return ("\(ordinals.count) Notifications", ordinals)
    case .text(let name):
      if name.lowercased() == "all" { return ("All", state.entries.map(\.ordinal)) }
      guard let app = app(name) else {
        return refuse("which? Say numbers of the list, an app or all: there is no app \(PlainLine.quote(name))")
      }
      return (app.name, state.entries(of: app.topic).map(\.ordinal))
    }
  }

  mutating func clear(_ rest: PlainLine.Rest) {
    guard let (title, ordinals) = chosen(rest) else { return }
    guard ordinals.contains(where: { state.index(of: $0) != nil }) else {
      return say("there is nothing left of it to clear")
    }
    phone.clear("Clear \(title)", ordinals)
  }

  mutating func mark(_ rest: PlainLine.Rest) {
    guard let (_, ordinals) = chosen(rest) else { return }
    let unread = ordinals.filter { ordinal in state.index(of: ordinal).map { !state.entries[$0].isRead } ?? false }
    if !unread.isEmpty { phone.record(.read(unread)) }
    say(unread.isEmpty ? "Nothing of it was unread." : "\(counted(unread.count, "push", "pushes")) marked as read.")
  }

  mutating func undo() {
    if phone.undo == nil { say("nothing to undo: undo restores pushes that clear has removed") }
    phone.undoClear()
  }

  mutating func redo() {
    if phone.redo == nil { say("nothing to do again: nothing was undone") }
    phone.redoClear()
  }

  // MARK: Names

  /// Returns the app with a name or topic, else the only app whose name begins with the text.
  func app(_ name: String) -> DeviceApp? {
    let name = name.lowercased()
    let apps = state.apps.map(\.app) + (name == DevicePush.digestTopic ? digest : [])
    if let app = apps.first(where: { $0.topic.lowercased() == name || $0.name.lowercased() == name }) { return app }
    let near = apps.filter { $0.name.lowercased().hasPrefix(name) }
    return near.count == 1 ? near[0] : nil
  }

  /// The app of the summary, which is not on the home screen.
  private var digest: [DeviceApp] {
    state.entries.last { $0.push.topic == DevicePush.digestTopic }.map { [$0.push.app] } ?? []
  }

  func unknownApp(_ name: String) -> String {
    let names = state.apps.map(\.app.name)
    let near = Suggestions.nearest(to: name, among: names).map { "did you mean \($0)? " } ?? ""
    return "no app \(PlainLine.quote(name)): \(near)apps lists their names"
  }
}
