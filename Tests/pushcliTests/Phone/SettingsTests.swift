import GatewayProtocol
import PushPolicy
import TerminalUI
import Testing

@testable import pushcli

@Suite struct SettingsTests {
  private var open: PhoneModel { Sample.phone([.preferences(ScreenTests.category), .key(.character("3"))]) }

  private func row(_ phone: PhoneModel, _ key: SettingsRow.Key) -> SettingsRow? {
    phone.settings?.groups(phone.state).flatMap(\.rows).first { $0.key == key }
  }

  /// Selects a row and changes its value.
  private func turn(_ phone: inout PhoneModel, _ key: SettingsRow.Key, _ turn: Key = .return) {
    let rows = SettingsGroup.groups(phone.state).flatMap(\.rows)
    phone.press(.home)
    for _ in 0..<(rows.firstIndex { $0.key == key } ?? 0) { phone.press(.down) }
    phone.press(turn)
  }

  private let everything = SettingsRow.Key.choice("notifications", app: nil, category: nil)
  private let sound = SettingsRow.Key.choice("sound", app: "com.example.news", category: nil)
  private let badge = SettingsRow.Key.choice("badge", app: "com.example.news", category: "SPORT")

  @Test func `every assignment that the table can make is one that the gateway takes`() throws {
    var preferences = ScreenTests.category
    for row in SettingsGroup.groups(open.state).flatMap(\.rows) {
      guard case .choice(let name, let app, let category) = row.key else { continue }
      #expect(row.values.contains(row.value))
      for value in row.values { try preferences.set("\(name)=\(value)", app: app, category: category) }
    }
  }

  @Test func `the standing of an app is the last row of its group, and can't be changed`() throws {
    var state = open.state
    var facts = Standing()
    (facts.presented, facts.viewed, facts.closed, facts.reported, facts.unsubscribed) = (1_200, 90, 800, 4, 2)
    state.apps[0].app.standing = DeviceStanding(facts)
    let rows = SettingsGroup.groups(state).flatMap(\.rows)
    let index = try #require(rows.firstIndex { $0.key == .standing(app: state.apps[0].app.topic) })
    #expect(SettingsGroup.groups(state)[2].rows.last == rows[index])
    #expect(rows[index].value == "1200 alerts, 4 reported")
    let words = "1200 alerts in 28 days: 90 viewed, 800 closed, 4 reported, 2 left."
    #expect(rows[index].explanation == words && words.count <= SettingsRow.maximumExplanationLength)
    var draft = SettingsDraft()
    draft.selected = index
    draft.turn(1, state)
    draft.edit(state)
    #expect(draft.changes.isEmpty && draft.typing == nil)
    state.apps[0].app.standing = DeviceStanding(facts, summaryUntil: "2026-12-25T08:00:00.000Z")
    #expect(SettingsGroup.groups(state)[2].rows.last?.value == "in the summary until 2026-12-25")
  }

  @Test func `every setting has a line that says what it does, and the selected one's is shown`() {
    let rows = SettingsGroup.groups(open.state).flatMap(\.rows)
    for row in rows {
      #expect((1...SettingsRow.maximumExplanationLength).contains(row.explanation.count), "\(row.title)")
    }
    for size in [Size(columns: 80, rows: 24), Size(columns: 200, rows: 60), Size(columns: 120, rows: 40)] {
      var phone = Sample.phone(size: size, [.key(.character("3"))])
      for row in rows.prefix(9) {
        #expect(phone.view(size: size).text.contains(row.explanation), "\(row.title)")
        phone.press(.down)
      }
    }
  }

  @Test func `Done sends what was changed and nothing else, by scope`() {
    var phone = open
    turn(&phone, everything)
    turn(&phone, sound)
    turn(&phone, badge, .left)
    #expect(row(phone, badge)?.value == "off")
    #expect(phone.state.preferences == ScreenTests.category, "nothing holds before the gateway says so")
    #expect(
      phone.press("d") == [
        .change(.init(settings: ["notifications=off"], app: nil, category: nil)),
        .change(.init(settings: ["sound=off"], app: "com.example.news", category: nil)),
        .change(.init(settings: ["badge=off"], app: "com.example.news", category: "SPORT")),
      ])
    #expect(phone.settings == nil)
  }

  @Test func `a value that is turned back is no change, and Cancel then asks nothing`() {
    var phone = open
    turn(&phone, everything)
    turn(&phone, everything)
    #expect(phone.settings?.changes.isEmpty == true)
    phone.press(.escape)
    #expect(phone.settings == nil && phone.sheet == nil)
  }

  @Test func `Cancel says what would be lost (M5)`() {
    var phone = open
    turn(&phone, everything)
    phone.press(.escape)
    #expect(phone.sheet?.titles == ["Discard 1 Change", "Keep Editing"])
    phone.press(.escape)
    #expect(phone.sheet == nil && phone.settings?.changes.count == 1)
    phone.press(.escape)
    phone.press("1")
    #expect(phone.settings == nil)
    #expect(phone.state.preferences == ScreenTests.category)
  }

  @Test func `without a connection choices stay open, and the words say why`() {
    var phone = open
    phone.happens(.connection(.disconnected(lastConnected: nil, retryAt: Sample.now)))
    turn(&phone, everything)
    #expect(phone.press("d").isEmpty)
    #expect(phone.settings != nil)
    #expect(phone.notice == "Not connected: the preferences can't be saved now")
  }

  @Test func `what belongs to the device holds at once, without the gateway`() {
    var phone = open
    phone.happens(.connection(.disconnected(lastConnected: nil, retryAt: Sample.now)))
    turn(&phone, .device(.silent))
    turn(&phone, .device(.volume), .left)
    #expect(phone.press("d") == [.state(silent: true, focus: "")])
    #expect(phone.state.settings == DeviceSettings(isSilent: true, volume: 75))
  }

  @Test func `a change from elsewhere shows while the settings are open`() {
    var phone = open
    turn(&phone, everything)
    var preferences = ScreenTests.category
    preferences.parts.badge = false
    phone.happens(.preferences(preferences))
    #expect(row(phone, .choice("badge", app: nil, category: nil))?.value == "off")
    #expect(row(phone, everything)?.value == "off")
  }

  @Test func `another value is typed, and a wrong one is said and can be mended`() {
    var phone = open
    let quiet = SettingsRow.Key.choice("quiet", app: nil, category: nil)
    let rows = SettingsGroup.groups(phone.state).flatMap(\.rows)
    for _ in 0..<(rows.firstIndex { $0.key == quiet } ?? 0) { phone.press(.down) }
    phone.press("e")
    #expect(phone.settings?.typing == "")
    for key in "23:30-7" { phone.press(key) }
    phone.press(.return)
    #expect(phone.notice?.contains("invalid value \"23:30-7\" of quiet: write \"22:00-07:00") == true)
    #expect(phone.settings?.typing == "23:30-7")
    phone.press(.backspace)
    for key in "07:00 sat,sun" { phone.press(key) }
    phone.press(.return)
    #expect(row(phone, quiet)?.value == "23:30-07:00 sat,sun")
    phone.press("e")
    phone.press("x")
    phone.press(.escape)
    #expect(row(phone, quiet)?.value == "23:30-07:00 sat,sun")
    #expect(phone.press("d") == [.change(.init(settings: ["quiet=23:30-07:00 sat,sun"], app: nil, category: nil))])
  }

  @Test func `what is no text is not typed into`() {
    var phone = open
    phone.press("e")
    #expect(phone.settings?.typing == nil)
  }

  @Test func `a Focus is a choice of the person, and the device says which is on`() {
    var preferences = Preferences()
    preferences.focuses["work"] = ["com.example.mail"]
    var phone = Sample.phone([.preferences(preferences), .key(.character("3"))])
    #expect(row(phone, .choice("focus.work", app: nil, category: nil))?.value == "com.example.mail")
    #expect(row(phone, .choice("focus.sleep", app: nil, category: nil))?.value == "off")
    turn(&phone, .device(.focus))
    #expect(phone.press("d") == [.state(silent: false, focus: "work")])
    #expect(phone.view(size: phone.size).text.split(separator: "\n")[0].contains(" work  14:05"))
    #expect(phone.press("s") == [.state(silent: true, focus: "work")])
  }

  @Test func `quiet hours are in the status bar while they last`() throws {
    var preferences = Preferences()
    for (window, isQuiet) in [("14:00-15:00", true), ("13:00-14:00", false), ("15:00-14:06 UTC", true)] {
      preferences.quietHours = [try #require(QuietWindow(window))]
      let phone = Sample.phone([.preferences(preferences)])
      #expect(phone.view(size: phone.size).text.contains("quiet hours") == isQuiet)
    }
  }
}
