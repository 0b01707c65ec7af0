import PushPolicy
import Testing

@testable import pushcli

@Suite struct SettingsTests {
  private var open: PhoneModel { Sample.phone([.preferences(ScreenTests.category), .key(.character("3"))]) }

  private func row(_ phone: PhoneModel, _ key: SettingsRow.Key) -> SettingsRow? {
    phone.settings?.groups(phone.state).flatMap(\.rows).first { $0.key == key }
  }

  /// Selects a row and turns its value on.
  private func turn(_ phone: inout PhoneModel, _ key: SettingsRow.Key, _ turn: Key = .return) {
    let rows = SettingsTable.groups(phone.state).flatMap(\.rows)
    phone.press(.home)
    for _ in 0..<(rows.firstIndex { $0.key == key } ?? 0) { phone.press(.down) }
    phone.press(turn)
  }

  private let everything = SettingsRow.Key.choice("notifications", app: nil, category: nil)
  private let sound = SettingsRow.Key.choice("sound", app: "com.example.news", category: nil)
  private let badge = SettingsRow.Key.choice("badge", app: "com.example.news", category: "SPORT")

  @Test func `every assignment that the table can make is one that the gateway takes`() throws {
    var preferences = ScreenTests.category
    for row in SettingsTable.groups(open.state).flatMap(\.rows) {
      guard case .choice(let name, let app, let category) = row.key else { continue }
      for value in row.values { try preferences.set("\(name)=\(value)", app: app, category: category) }
    }
    let names = Set(SettingsTable.fields.map(\.name))
    // `pushcli prefs` alone has these.
    let elsewhere: Set = [
      "quiet", "summary", "advertising", "critical", "budget", "delivery", "provisional", "time-sensitive",
    ]
    #expect(names.union(elsewhere) == Set(Setting.allCases.map(\.rawValue)), "a setting of the policy has no row")
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
    #expect(phone.notice == "Not connected: the choices can't be saved now")
  }

  @Test func `what belongs to the device holds at once, without the gateway`() {
    var phone = open
    phone.happens(.connection(.disconnected(lastConnected: nil, retryAt: Sample.now)))
    turn(&phone, .device(.silent))
    turn(&phone, .device(.volume), .left)
    #expect(phone.press("d") == [.state(silent: true)])
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
}
