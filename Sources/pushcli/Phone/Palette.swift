import TerminalUI

/// The colors of the phone for one appearance. Nil selects the terminal's default.
struct Palette: Sendable, Equatable {
  /// The background of alerts, sheets and help.
  var surface: Color?
  /// Texts on the surface, and less important texts there.
  var ink, faintInk: Color?
  /// The lines around the surface; not used for text.
  var line: Color?
  /// The titles of buttons on the surface; the background and the title of the button with the focus.
  var blue, red, focusBlue, focusRed, focusInk: Color?
  /// On the terminal's default background: links and marks, positive states, less important texts.
  var accent, green, dim: Color?
  /// Badges and their digits.
  var badge, badgeInk: Color?
  /// The tiles of apps, none of which is the red of badges, and the text on them.
  var tiles: [Color]
  var tileInk: Color?
  /// The background of the selected row of a list, its texts, and its less important texts.
  var selection, selectionInk, faintSelectionInk: Color?
  /// Tiles and badges behind an alert, and the text on them; with nil only their outlines are drawn.
  var dimTile, dimTileInk, dimBadge, dimBadgeInk: Color?

  private static let tiles = [24, 23, 58, 60, 96, 94, 61, 22].map { Color($0) }

  static let dark = Palette(
    surface: Color(236), ink: Color(255), faintInk: Color(248), line: Color(243), blue: Color(75), red: Color(210),
    focusBlue: Color(26), focusRed: Color(160), focusInk: Color(231), accent: Color(39), green: Color(71),
    dim: Color(246), badge: Color(160), badgeInk: Color(231), tiles: tiles, tileInk: Color(231),
    selection: Color(25), selectionInk: Color(231), faintSelectionInk: Color(254), dimTile: Color(237),
    dimTileInk: Color(250), dimBadge: Color(241), dimBadgeInk: Color(255))
  static let light = Palette(
    surface: Color(255), ink: Color(235), faintInk: Color(240), line: Color(250), blue: Color(25), red: Color(124),
    focusBlue: Color(26), focusRed: Color(160), focusInk: Color(231), accent: Color(25), green: Color(22),
    dim: Color(240), badge: Color(160), badgeInk: Color(231), tiles: tiles, tileInk: Color(231),
    selection: Color(153), selectionInk: Color(16), faintSelectionInk: Color(239), dimTile: Color(253),
    dimTileInk: Color(240), dimBadge: Color(247), dimBadgeInk: Color(16))
  /// For terminals with eight colors, which define the colors of texts themselves.
  static let basic = Palette(
    line: nil, blue: nil, red: Color(1), focusBlue: Color(4), focusRed: Color(1), focusInk: Color(7), accent: nil,
    green: Color(2), dim: nil, badge: Color(1), badgeInk: Color(7), tiles: [Color(4)], tileInk: Color(7),
    selection: Color(4), selectionInk: Color(7), faintSelectionInk: Color(7))

  /// Returns the tile colors of apps by topic. They are all different as long as there are at most as many apps as
  /// colors. Each app has the color selected by its topic, or the next color that no earlier app has.
  func tiles(of topics: [String]) -> [String: Color] {
    var colors: [String: Color] = [:]
    var taken: Set<Int> = []
    for topic in topics where colors[topic] == nil {
      if taken.count == tiles.count { taken = [] }
      var index = Self.index(of: topic, count: tiles.count)
      while taken.contains(index) { index = (index + 1) % tiles.count }
      taken.insert(index)
      colors[topic] = tiles[index]
    }
    return colors
  }

  /// Returns a color index that depends only on the topic (FNV-1a).
  private static func index(of topic: String, count: Int) -> Int {
    var hash: UInt32 = 2_166_136_261
    for byte in topic.utf8 { hash = (hash ^ UInt32(byte)) &* 16_777_619 }
    return Int(hash % UInt32(count))
  }

  /// Returns the background and the text color that replace a fill color behind an alert; nil removes the fill.
  func receded(_ color: Color) -> (background: Color, ink: Color)? {
    if let dimBadge, let dimBadgeInk, color == badge || color == dimBadge { return (dimBadge, dimBadgeInk) }
    if let dimTile, let dimTileInk, tiles.contains(color) || color == dimTile { return (dimTile, dimTileInk) }
    return nil
  }

  // MARK: Styles on the surface

  var plain: Style { Style(foreground: ink, background: surface) }
  var strong: Style { Style(foreground: ink, background: surface, isBold: true) }
  var faint: Style { Style(foreground: faintInk, background: surface) }
  var border: Style { Style(foreground: line, background: surface) }

  /// Returns the style of a button; destructive buttons are red.
  func button(isDestructive: Bool, isFocused: Bool, isBold: Bool = false) -> Style {
    isFocused
      ? Style(foreground: focusInk, background: isDestructive ? focusRed : focusBlue, isBold: true)
      : Style(foreground: isDestructive ? red : blue, background: surface, isBold: isBold)
  }
}
