import Foundation
import GatewayProtocol
import PushPolicy
import TerminalUI
import Testing

@testable import pushcli

/// Compares screens as text with the files in `Screens/`, which were reviewed when they were added.
///
/// With `PUSHGATEWAY_SCREENS=write` the files are written again: review the changes with git.
@Suite struct ScreenTests {
  static let badges: [PhoneMessage] = [
    .push(Sample.push(1, badge: 3)), .push(Sample.push(2, Sample.mail, badge: 128)),
  ]
  static let alerts: [PhoneMessage] = [
    badges[0], badges[1], .push(Sample.push(3, alert: Sample.earthquake)),
    .push(Sample.push(4, Sample.mail, alert: Sample.dinner)), .push(Sample.push(5, alert: Sample.done)),
  ]
  static let long = AlertPresentation(
    title: "Terms of Use",
    body: String(repeating: "All work and no play. ", count: 40)
  )
  static let foreign = AlertPresentation(
    title: "地震 in チリ 🇨🇱 👩‍👩‍👧‍👦", subtitle: "مرحبا بالعالم", body: "한국어 텍스트와 emoji 🎉 in one line. שלום עולם."
  )
  static let earthquake = Sample.push(
    9,
    alert: Sample.earthquake,
    payload:
      #"{"aps":{"alert":{"title":"Earthquake in Chile","subtitle":"Off the coast"},"badge":3},"url":"https://example.com/quake"}"#
  )
  /// A question with a link and a picture.
  static let asked = Sample.push(
    1, alert: Sample.deploy,
    payload:
      #"{"aps":{"thread-id":"release"},"url":"https://example.com/4711","image":"https://example.com/4711.png"}"#)
  static let manyApps = (1...9).map { DeviceApp(topic: "app-\($0)", name: "App \($0)", icon: "A\($0)") }
  /// Answered alerts of two apps, one of them with a thread.
  static let answered: [PhoneMessage] = [
    .push(Sample.push(3, alert: Sample.earthquake, thread: "quakes")), .key(.character("c")),
    .push(Sample.push(4, Sample.mail, alert: Sample.dinner)), .key(.character("c")),
    .push(Sample.push(5, alert: Sample.done)), .key(.character("o")),
    .push(
      Sample.push(6, alert: AlertPresentation(title: "Aftershock in Chile", body: "Magnitude 6.1."), thread: "quakes")),
    .retract(id: "push-9"), .key(.character("c")),
  ]
  static let unread: [PhoneMessage] = [
    .push(Sample.push(7, Sample.mail, alert: Sample.dinner)), .key(.character("c")),
  ]
  static let category: Preferences = {
    var preferences = Preferences()
    preferences.apps["com.example.news"] = AppPreferences()
    preferences.apps["com.example.news"]?.categories["SPORT"] = CategoryPreferences()
    preferences.apps["com.example.news"]?.categories["SPORT"]?.alert = false
    return preferences
  }()

  struct Scene: Sendable, CustomTestStringConvertible {
    var name: String
    var messages: [PhoneMessage]
    var sizes = [(80, 24), (40, 12)]
    var testDescription: String { name }
  }

  static let scenes = [
    Scene(name: "home", messages: badges, sizes: [(80, 24), (40, 12), (200, 60), (20, 5), (30, 10)]),
    Scene(name: "home-empty", messages: [.apps([]), .gap(dropped: 2), .key(.character("s"))]),
    Scene(name: "home-pages", messages: [.apps(manyApps), .key(.right), .key(.down)], sizes: [(30, 10), (40, 14)]),
    Scene(
      name: "home-disconnected",
      messages: [.connection(.disconnected(lastConnected: Sample.now - 86_400, retryAt: Sample.now + 9))],
      sizes: [(80, 24), (40, 12), (30, 10)]),
    Scene(name: "alert", messages: alerts, sizes: [(80, 24), (40, 12), (200, 60), (20, 5), (30, 10)]),
    Scene(
      name: "alert-long", messages: [.push(Sample.push(1, alert: long))],
      sizes: [(80, 24), (40, 12), (30, 10), (20, 5)]),
    Scene(
      name: "alert-burst",
      messages: (1...12).map { .push(Sample.push($0, alert: $0 % 2 == 0 ? Sample.dinner : Sample.earthquake)) } + [
        .push(Sample.push(20, Sample.mail, alert: Sample.done))
      ], sizes: [(80, 24), (40, 12), (30, 10), (20, 5), (200, 60)]),
    Scene(
      name: "home-latest", messages: answered + unread, sizes: [(80, 24), (40, 12), (30, 10), (120, 40), (200, 60)]),
    Scene(
      name: "center-preview", messages: [.push(asked), .key(.character("c")), .key(.character("2")), .key(.down)],
      sizes: [(99, 24), (100, 24), (120, 40), (200, 60)]),
    Scene(
      name: "alert-burst-sheet",
      messages: [
        .push(Sample.push(1, alert: Sample.dinner)), .push(Sample.push(2, alert: Sample.done)),
        .push(Sample.push(3, Sample.mail, alert: Sample.done)),
        .push(Sample.push(4, Sample.mail, alert: Sample.deploy)),
        .key(.character("C")),
      ], sizes: [(80, 24), (30, 10), (20, 5)]),
    Scene(name: "alert-options", messages: [.push(Sample.push(1, alert: Sample.deploy))]),
    Scene(
      name: "alert-sheet", messages: [.push(Sample.push(1, alert: Sample.deploy)), .key(.character("v"))],
      sizes: [(80, 24), (40, 12), (30, 10), (20, 5)]),
    Scene(name: "alert-one-button", messages: [.push(Sample.push(1, alert: Sample.done))]),
    Scene(name: "alert-foreign", messages: [.push(Sample.push(1, alert: foreign))]),
    Scene(
      name: "app", messages: badges + [.push(earthquake), .key(.character("v"))], sizes: [(80, 24), (60, 16), (40, 12)]),
    Scene(
      name: "app-reading",
      messages: [.push(Sample.push(1, alert: long)), .key(.character("v")), .key(.return), .key(.pageDown)],
      sizes: [(80, 24), (30, 10)]),
    Scene(
      name: "app-payload", messages: [.push(earthquake), .key(.character("v")), .key(.character("p"))],
      sizes: [(80, 24), (30, 10)]),
    Scene(name: "center", messages: answered + [.key(.character("2"))], sizes: [(80, 24), (40, 12), (200, 60)]),
    Scene(name: "center-empty", messages: [.key(.character("2"))]),
    Scene(
      name: "center-search",
      messages: answered + "2/chile".map { .key(.character($0)) }),
    Scene(
      name: "center-cleared", messages: answered + [.key(.character("2")), .key(.character("d"))]),
    Scene(
      name: "center-ticked", messages: answered + [.key(.character("2")), .key(.end), .key(.character(" ")), .key(.up)]),
    Scene(name: "center-clear-all", messages: answered + "2D".map { .key(.character($0)) }),
    Scene(
      name: "settings", messages: [.preferences(category), .key(.character("3"))],
      sizes: [(80, 24), (40, 12), (200, 60)]),
    Scene(
      name: "settings-changed",
      messages: [.preferences(category), .key(.character("3")), .key(.down), .key(.down), .key(.down), .key(.return)]),
    Scene(
      name: "settings-typing",
      messages: [.preferences(category), .key(.character("3"))] + Array(repeating: .key(.down), count: 10)
        + "e23:00-9 sat".map { .key(.character($0)) } + [.key(.return)]),
    Scene(
      name: "settings-discard",
      messages: [.preferences(category), .key(.character("3")), .key(.return), .key(.escape)]),
    Scene(name: "help", messages: badges + [.key(.character("?"))]),
    Scene(name: "help-center", messages: answered + "2?".map { .key(.character($0)) }),
  ]

  private static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Screens")

  private func screen(_ columns: Int, _ rows: Int, _ messages: [PhoneMessage]) -> String {
    let size = Size(columns: columns, rows: rows)
    return text(Sample.phone(size: size, messages).view(size: size), of: size)
  }

  /// Returns the text of a frame, each row of which is checked to be as wide as the screen.
  private func text(_ frame: Frame, of size: Size) -> String {
    for row in 0..<size.rows {
      let width = (0..<size.columns).reduce(0) { $0 + (frame[$1, row].character.map { DisplayWidth.of($0) } ?? 0) }
      #expect(width == size.columns)
    }
    return frame.text
  }

  @Test(arguments: scenes) func `a screen looks as it did`(_ scene: Scene) throws {
    for (columns, rows) in scene.sizes {
      let shown = screen(columns, rows, scene.messages) + "\n"
      let file = Self.folder.appending(path: "\(scene.name)-\(columns)x\(rows).txt")
      if ProcessInfo.processInfo.environment["PUSHGATEWAY_SCREENS"] == "write" {
        try Data(shown.utf8).write(to: file)
      } else {
        #expect(try String(contentsOf: file, encoding: .utf8) == shown, "\(file.lastPathComponent)")
      }
    }
  }

  @Test func `no size breaks a screen: it stays within its edges, and says what the keys do or what is missing`() throws
  {
    let opened: [PhoneMessage] = Self.alerts + [.key(.character("v"))]
    for messages in Self.scenes.map(\.messages) + [opened] {
      for columns in [0, 1, 29, 30, 31, 47, 61] + [120] {
        for rows in Array(0...20) + [40] {
          let size = Size(columns: columns, rows: rows)
          let model = Sample.phone(size: size, messages)
          let frame = model.view(size: size)
          let lines = text(frame, of: size).split(separator: "\n", omittingEmptySubsequences: false)
          #expect(lines.count == max(rows, 1))
          #expect(lines.allSatisfy { DisplayWidth.of($0) <= columns })
          let last = try #require(lines.last)
          if size.holdsPhone { #expect(last.contains { $0.isLetter }) }
          let isAlert = size.holdsAlert && !model.alerts.isEmpty
          if columns >= 29, (1..<10).contains(rows), !isAlert {
            #expect(lines.contains { $0.contains("needs 30×10") })
          }
          checkModal(model, frame, size)
        }
      }
    }
  }

  /// Checks that an alert or a sheet is complete: a closed box above the row of keys, with all its buttons.
  private func checkModal(_ model: PhoneModel, _ frame: Frame, _ size: Size) {
    let alert = model.alerts.first
    let sheet = model.sheet.flatMap { $0.purpose.isOfAlert || alert == nil ? $0 : nil }
    guard size.holdsPhone, !model.isHelpShown, let titles = sheet?.titles ?? model.group?.choices.map(\.title) else {
      return
    }
    func row(_ row: Int) -> String {
      (0..<size.columns).compactMap { frame[$0, row].character }.map { String($0) }.joined()
    }
    let place: Comment = "\(size.columns)×\(size.rows)\n\(frame.text)"
    let bottom = (0..<size.rows - 1).last { row($0).contains("╰") }
    guard let bottom, let left = (0..<size.columns).first(where: { frame[$0, bottom].character == "╰" }),
      let right = (left..<size.columns).first(where: { frame[$0, bottom].character == "╯" }),
      let top = (0..<bottom).last(where: { frame[left, $0].character == "╭" })
    else {
      Issue.record("no box: \(place)")
      return
    }
    #expect(frame[right, top].character == "╮", place)
    for row in top + 1..<bottom {
      #expect(frame[left, row].character.map { "│├".contains($0) } == true, place)
      #expect(frame[right, row].character.map { "│┤".contains($0) } == true, place)
    }
    let inside = (top + 1..<bottom).map(row)
    // A long title may be truncated.
    for title in titles.map({ $0.prefix(20) }) {
      #expect(inside.contains { $0.contains(title) }, "\(title) is missing: \(place)")
    }
  }

  @Test func `a badge shows all its digits and nothing else (B3)`() {
    let frame = screen(40, 12, [.push(Sample.push(1, badge: .max)), .push(Sample.push(2, Sample.mail, badge: 0))])
    #expect(frame.contains("(9223372036854775807)"))
    #expect(frame.count(where: { $0 == "(" }) == 1)
  }

  /// Returns the cells of the first app's tile and its badge at 80×24: 8×3 cells from column 3, row 2, with the badge
  /// on its corner.
  private func tile(hasHalfCircles: Bool, isSelected: Bool) -> Frame {
    let size = Size(columns: 80, rows: 24)
    var phone = Sample.phone(size: size, [.push(Sample.push(1, badge: 3))] + (isSelected ? [] : [.key(.right)]))
    phone.form.hasHalfCircles = hasHalfCircles
    return phone.view(size: size)
  }

  @Test func `a tile is filled to its edges`() {
    for isSelected in [true, false] {
      let frame = tile(hasHalfCircles: false, isSelected: isSelected)
      let color = frame[5, 3].style.background
      #expect(color != nil)
      for row in 2...4 {
        for column in 3..<11 where !(row == 2 && column > 8) { #expect(frame[column, row].style.background == color) }
      }
      // The outline of the selected tile is visible, those of others only without colors.
      #expect((frame[3, 4].style.foreground == color) == !isSelected)
      #expect(frame[3, 4].character == (isSelected ? "┗" : "╰"))
    }
  }

  @Test func `a badge is an oval where the terminal draws half-circles, else a block, and has ends without colors`() {
    let palette = Palette.dark
    let block = tile(hasHalfCircles: false, isSelected: true)
    #expect((9...11).map { block[$0, 2].character } == ["(", "3", ")"])
    #expect((9...11).allSatisfy { block[$0, 2].style.background == palette.badge })
    #expect([9, 11].allSatisfy { block[$0, 2].style.foreground == palette.badge })
    let oval = tile(hasHalfCircles: true, isSelected: true)
    #expect((9...11).map { oval[$0, 2].character } == ["\u{E0B6}", "3", "\u{E0B4}"])
    #expect([9, 11].allSatisfy { oval[$0, 2].style.foreground == palette.badge })
    // The left end is over the tile, the right one next to it.
    #expect(oval[9, 2].style.background == oval[5, 3].style.background && oval[11, 2].style.background == nil)
    #expect(oval[10, 2].style == Style(foreground: palette.badgeInk, background: palette.badge, isBold: true))
    // Behind an alert, the badge has the same shape and is dim. Without a color for that, nothing is filled.
    var receded = oval
    receded.recede(palette.receded)
    #expect((9...11).map { receded[$0, 2].character } == ["\u{E0B6}", "3", "\u{E0B4}"])
    #expect(receded[10, 2].style.background == palette.dimBadge && receded[5, 3].style.background == palette.dimTile)
    #expect(receded[9, 2].style.foreground == palette.dimBadge && receded[3, 4].style.background == palette.dimTile)
    let again = receded
    receded.recede(palette.receded)
    #expect(receded == again)
    receded.recede()
    #expect((9...11).map { receded[$0, 2].character } == ["(", "3", ")"])
  }
}
