import Foundation
import TerminalUI
import Testing

@testable import pushcli

extension Palette {
  /// The pairs of text and background colors; a nil background is the terminal's default.
  fileprivate var texts: [(name: String, text: Color?, background: Color?)] {
    [
      ("ink", ink, surface), ("faint ink", faintInk, surface), ("blue", blue, surface), ("red", red, surface),
      ("focus", focusInk, focusBlue), ("red focus", focusInk, focusRed), ("accent", accent, nil), ("green", green, nil),
      ("dim", dim, nil), ("badge", badgeInk, badge), ("selection", selectionInk, selection),
      ("faint selection", faintSelectionInk, selection), ("dim tile", dimTileInk, dimTile),
      ("dim badge", dimBadgeInk, dimBadge),
    ] + tiles.map { ("tile \($0.index)", tileInk, $0) }
  }
}

@Suite struct PaletteTests {
  /// Returns the relative luminance of a color (WCAG 2.2).
  private func luminance(_ components: [Int]) -> Double {
    let linear = components.map { component -> Double in
      let value = Double(component) / 255
      return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
    }
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
  }

  private func contrast(_ one: [Int], _ other: [Int]) -> Double {
    let (low, high) = (min(luminance(one), luminance(other)), max(luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)
  }

  @Test func `the measure is right`() {
    #expect(contrast([0, 0, 0], [255, 255, 255]) == 21)
    #expect(abs(contrast([118, 118, 118], [255, 255, 255]) - 4.54) < 0.01)
    #expect(Color(196).components == [255, 0, 0] && Color(244).components == [128, 128, 128])
    #expect(Color(16).components == [0, 0, 0] && Color(7).components == nil)
  }

  /// Black and white, and common alternatives to them.
  static let backgrounds: [(Palette, [[Int]])] = [
    (.dark, [[0, 0, 0], [30, 30, 30], [40, 44, 52], [0, 43, 54]]), (.light, [[255, 255, 255], [253, 246, 227]]),
  ]

  @Test func `every text has a contrast of 4.5 at least, dark and light`() throws {
    for (palette, backgrounds) in Self.backgrounds {
      for (name, text, background) in palette.texts {
        let color = try #require(text?.components, "\(name)")
        for behind in background.map({ [$0.components ?? []] }) ?? backgrounds {
          let found = contrast(color, behind)
          #expect(found >= 4.5, "\(name) on \(behind): \(found)")
        }
      }
    }
  }

  @Test func `nothing is drawn in a color that is not in the palette, and nothing faint has none`() {
    for appearance in Appearance.allCases {
      for scene in ScreenTests.scenes {
        let size = Size(columns: 80, rows: 24)
        var phone = Sample.phone(size: size, scene.messages)
        phone.requestedAppearance = appearance
        let palette = phone.palette
        let known = palette.texts.flatMap { [$0.text, $0.background] } + [palette.line]
        for cell in phone.view(size: size).cells {
          #expect(known.contains(cell.style.foreground) && known.contains(cell.style.background))
          #expect(!cell.style.isDim || cell.style.foreground != nil)
        }
      }
    }
  }

  @Test func `apps have colors of their own while there are colors, and keep them when others come`() {
    let topics = ["news", "mail", "builds", "backup", "weather", "trains", "chat", "home", "door"]
      .map { "com.example.\($0)" }
    let colors = Palette.dark.tiles(of: topics)
    #expect(Set(topics.prefix(8).map { colors[$0] }).count == 8 && colors.count == 9)
    for count in 1...8 {
      let some = Palette.dark.tiles(of: Array(topics.prefix(count)))
      #expect(some.allSatisfy { colors[$0.key] == $0.value })
    }
    #expect(Set(Palette.basic.tiles(of: topics).values).count == 1)
  }

  @Test func `the selected row is in color, and a sign says so as well`() {
    for (screen, row) in [("2", 3), ("3", 4)] as [(Character, Int)] {
      let phone = Sample.phone(ScreenTests.answered + [.key(.character(screen))])
      let frame = phone.view(size: phone.size)
      let selected = (0..<24).filter { line in (0..<80).contains { frame[$0, line].character == "▸" } }
      #expect(selected == [row])
      for line in 1..<20 {
        let isColored = (10..<60).allSatisfy { frame[$0, line].style.background == phone.palette.selection }
        #expect(isColored == (line == row), "\(screen), row \(line)")
      }
    }
  }

  @Test func `the terminal's answer decides, and the person before it`() {
    var phone = Sample.phone()
    #expect(phone.palette == .dark)
    phone.happens(.input(.background(.light)))
    #expect(phone.palette == .light)
    phone.record(.settings(DeviceSettings(appearance: .dark)))
    #expect(phone.palette == .dark)
    phone.requestedAppearance = .light
    #expect(phone.palette == .light)
    phone.form.colors = 8
    #expect(phone.palette == .basic)
  }
}
