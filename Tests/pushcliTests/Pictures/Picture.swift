import Foundation
import TerminalUI

/// A frame as an SVG drawing: the output of the program, in shapes that do not depend on the viewer's fonts except for
/// letters.
struct Picture {
  let frame: Frame
  let scheme: PictureScheme
  /// Characters that are neither letters nor known shapes. A picture must have none.
  var unknownSigns: [Character] {
    frame.cells.compactMap(\.character).filter {
      $0 != " " && !Self.isLetter($0) && !PictureSigns.isLine($0) && PictureSigns.filled[$0] == nil
        && PictureSigns.drawn[$0] == nil && PictureIcons.shapes[$0] == nil
    }
  }

  /// Returns true for characters that all fonts have: ASCII and Latin letters, and some punctuation.
  static func isLetter(_ character: Character) -> Bool {
    character.isASCII || "·…–—“”‹›×".contains(character)
      || character.unicodeScalars.allSatisfy { (0xC0...0x17F).contains($0.value) }
  }

  /// A sequence of letters of one style in a row.
  struct Run: Equatable {
    var column: Int
    var row: Int
    var text: String
    var style: Style
  }

  /// All elements, from back to front.
  var elements: [String] { backgrounds + ovals.map(drawn) + lines + signs + icons + runs.map(drawn) }

  // MARK: Backgrounds

  private var backgrounds: [String] {
    let inOvals = Set(ovals.flatMap { oval in (oval.columns).map { oval.row * frame.size.columns + $0 } })
    var colors = frame.cells.map(\.style.background)
    // The background of an oval is that of the cell below.
    for index in inOvals.sorted(by: >) {
      let below = index + frame.size.columns
      colors[index] = below < colors.count ? colors[below] : nil
    }
    return PictureRegions(size: frame.size, colors: colors).outlines.map { outline in
      let path = outline.corners.enumerated().map { place, corner in
        "\(place == 0 ? "M" : "L")\(corner.column * PictureCell.width) \(corner.row * PictureCell.height)"
      }.joined()
      return #"<path d="\#(path)z" fill="\#(PictureScheme.hex(outline.color) ?? scheme.window)"/>"#
    }
  }

  // MARK: Badges

  private struct Oval {
    var columns: ClosedRange<Int>
    var row: Int
    var color: Color?
  }

  private var ovals: [Oval] {
    (0..<frame.size.rows).flatMap { row in
      (0..<frame.size.columns).compactMap { column -> Oval? in
        let color = frame[column, row].style.foreground
        guard frame[column, row].character == "\u{E0B6}", let color,
          let end = (column..<frame.size.columns).first(where: { frame[$0, row].character == "\u{E0B4}" }),
          (column + 1..<end).allSatisfy({ frame[$0, row].style.background == color })
        else { return nil }
        return Oval(columns: column...end, row: row, color: color)
      }
    }
  }

  private func drawn(_ oval: Oval) -> String {
    let (x, y) = (oval.columns.lowerBound * PictureCell.width, oval.row * PictureCell.height)
    return """
      <rect x="\(x)" y="\(y)" width="\(oval.columns.count * PictureCell.width)" height="\(PictureCell.height)" \
      rx="\(PictureCell.height / 2)" fill="\(PictureScheme.hex(oval.color) ?? scheme.text)"/>
      """
  }

  // MARK: Lines, signs and icons

  /// All text colors, each once.
  private var inks: [String] {
    var seen: Set<String> = []
    return frame.cells.map { scheme.ink($0.style) }.filter { seen.insert($0).inserted }
  }

  private var lines: [String] {
    inks.flatMap { ink in
      PictureSigns.lines(frame.size) { column, row in
        let cell = frame[column, row]
        // A character in the color of its background is invisible.
        guard scheme.ink(cell.style) == ink, PictureScheme.hex(cell.style.background) != ink else { return nil }
        return cell.character
      }.map { path, width in
        """
        <path d="\(path)" fill="none" stroke="\(ink)" stroke-linecap="square"\(width == 1 ? "" : " stroke-width=\"\(width)\"")/>
        """
      }
    }
  }

  private var signs: [String] {
    let ends = Set(
      ovals.flatMap { oval in
        [oval.columns.lowerBound, oval.columns.upperBound].map { oval.row * frame.size.columns + $0 }
      })
    func path(_ shapes: [Character: String], _ ink: String) -> String {
      places.compactMap { column, row, cell in
        guard let shape = cell.character.flatMap({ shapes[$0] }), scheme.ink(cell.style) == ink,
          !ends.contains(row * frame.size.columns + column)
        else { return nil }
        return PicturePath.moved(shape, column: column, row: row)
      }.joined()
    }
    return inks.flatMap { ink -> [String] in
      let (filled, drawn) = (path(PictureSigns.filled, ink), path(PictureSigns.drawn, ink))
      return (filled.isEmpty ? [] : [#"<path d="\#(filled)" fill="\#(ink)"/>"#])
        + (drawn.isEmpty
          ? []
          : [
            #"<path d="\#(drawn)" fill="none" stroke="\#(ink)" stroke-width="1.3" stroke-linecap="round" stroke-linejoin="round"/>"#
          ])
    }
  }

  private var icons: [String] {
    places.compactMap { column, row, cell in
      cell.character.flatMap { PictureIcons.shapes[$0] }.map { shape in
        let place = "translate(\(column * PictureCell.width) \(row * PictureCell.height))"
        return "<g transform=\"\(place)\"\(cell.style.isDim ? " opacity=\".6\"" : "")>\(shape)</g>"
      }
    }
  }

  private var places: [(column: Int, row: Int, cell: Cell)] {
    (0..<frame.size.rows).flatMap { row in (0..<frame.size.columns).map { ($0, row, frame[$0, row]) } }
  }

  // MARK: Letters

  /// The runs of all rows. A run may contain single spaces between words.
  var runs: [Run] {
    var result: [Run] = []
    for row in 0..<frame.size.rows {
      var (run, blanks): (Run?, Int) = (nil, 0)
      for column in 0..<frame.size.columns {
        let cell = frame[column, row]
        guard let character = cell.character, Self.isLetter(character), character != " ", isSeen(cell) else {
          blanks += 1
          if cell.character != " " { blanks = 2 }
          continue
        }
        if let last = run, blanks < 2, scheme.ink(last.style) == scheme.ink(cell.style),
          last.style.isBold == cell.style.isBold
        {
          run?.text += String(repeating: " ", count: blanks) + String(character)
        } else {
          if let run { result.append(run) }
          run = Run(column: column, row: row, text: String(character), style: cell.style)
        }
        blanks = 0
      }
      if let run { result.append(run) }
    }
    return result
  }

  /// Returns true if the color of a letter differs from that of its background.
  private func isSeen(_ cell: Cell) -> Bool {
    cell.style.background == nil || cell.style.background != cell.style.foreground
  }

  /// Returns the SVG of a run, with its letters at their columns in any font.
  private func drawn(_ run: Run) -> String {
    let (x, y) = (run.column * PictureCell.width, run.row * PictureCell.height + PictureCell.baseline)
    let text = run.text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
    return """
      <text x="\(x)" y="\(y)" textLength="\(run.text.count * PictureCell.width)" lengthAdjust="spacingAndGlyphs" \
      fill="\(scheme.ink(run.style))"\(run.style.isBold ? " font-weight=\"bold\"" : "")>\(text)</text>
      """
  }
}
