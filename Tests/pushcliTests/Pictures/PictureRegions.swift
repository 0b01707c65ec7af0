import TerminalUI

/// The regions of a frame with one background each, as outlines: a region is painted as one shape, so that no gaps show
/// between its cells.
struct PictureRegions {
  /// The outline of one region: its corners in cell coordinates.
  struct Outline: Equatable {
    var color: Color?
    var corners: [Corner]
  }

  struct Corner: Hashable {
    var column: Int
    var row: Int
  }

  let size: Size
  /// The background of each cell, row by row.
  let colors: [Color?]

  /// The outlines from the outside in: a region in a hole of another one comes after it. Regions of the default
  /// background that reach the edge are omitted.
  var outlines: [Outline] {
    var result: [Outline] = []
    var isTaken = Array(repeating: false, count: colors.count)
    for index in colors.indices where !isTaken[index] {
      let part = part(from: index)
      for cell in part { isTaken[cell] = true }
      if colors[index] == nil, part.contains(where: isAtEdge) { continue }
      result.append(Outline(color: colors[index], corners: corners(of: part, from: index)))
    }
    return result
  }

  private func isAtEdge(_ index: Int) -> Bool {
    let (row, column) = index.quotientAndRemainder(dividingBy: size.columns)
    return row == 0 || column == 0 || row == size.rows - 1 || column == size.columns - 1
  }

  /// Returns the connected cells of one color that include this one.
  private func part(from index: Int) -> Set<Int> {
    var (found, rest): (Set<Int>, [Int]) = ([index], [index])
    while let cell = rest.popLast() {
      let (row, column) = cell.quotientAndRemainder(dividingBy: size.columns)
      for (column, row) in [(column - 1, row), (column + 1, row), (column, row - 1), (column, row + 1)] {
        guard (0..<size.columns).contains(column), (0..<size.rows).contains(row) else { continue }
        let next = row * size.columns + column
        if colors[next] == colors[index], found.insert(next).inserted { rest.append(next) }
      }
    }
    return found
  }

  /// Returns the corners along the outside of a region, clockwise, from the top left corner of its first cell.
  private func corners(of part: Set<Int>, from index: Int) -> [Corner] {
    func isInside(_ column: Int, _ row: Int) -> Bool {
      (0..<size.columns).contains(column) && (0..<size.rows).contains(row)
        && part.contains(row * size.columns + column)
    }
    // The cells to the right and to the left of the next step, for each direction: east, south, west, north.
    let steps = [(1, 0), (0, 1), (-1, 0), (0, -1)]
    let rights = [(0, 0), (-1, 0), (-1, -1), (0, -1)]
    let lefts = [(0, -1), (0, 0), (-1, 0), (-1, -1)]
    let start = Corner(column: index % size.columns, row: index / size.columns)
    var (at, direction, corners) = (start, 0, [start])
    repeat {
      at.column += steps[direction].0
      at.row += steps[direction].1
      let turned = direction
      if !isInside(at.column + rights[direction].0, at.row + rights[direction].1) {
        direction = (direction + 1) % 4
      } else if isInside(at.column + lefts[direction].0, at.row + lefts[direction].1) {
        direction = (direction + 3) % 4
      }
      if direction != turned, at != start { corners.append(at) }
    } while at != start
    return corners
  }
}
