import CQRencode

/// A QR code, drawn with characters of half a block each.
struct QRCode {
  private let size: Int
  /// The modules row by row; true for dark modules.
  private let modules: [Bool]

  /// The number of light modules around the code, which readers need to find it.
  private static let margin = 4

  /// - Returns: nil if the text exceeds the capacity of a QR code.
  init?(_ text: String) {
    guard let code = unsafe QRcode_encodeString(text, 0, QR_ECLEVEL_M, QR_MODE_8, 1) else { return nil }
    defer { unsafe QRcode_free(code) }
    let size = unsafe Int(code.pointee.width)
    self.size = size
    modules = (0..<size * size).map { unsafe code.pointee.data[$0] & 1 == 1 }
  }

  private func isDark(_ row: Int, _ column: Int) -> Bool {
    guard (0..<size).contains(row), (0..<size).contains(column) else { return false }
    return modules[row * size + column]
  }

  /// The code with two rows of modules per line. Light modules are drawn, as most terminals are dark; readers also
  /// accept inverted codes.
  var lines: [String] {
    let range = -QRCode.margin..<size + QRCode.margin
    return stride(from: range.lowerBound, to: range.upperBound, by: 2).map { row in
      range.map { column -> String in
        let (upper, lower) = (isDark(row, column), isDark(row + 1, column))
        switch (upper, lower) {
        case (false, false): return "█"
        case (false, true): return "▀"
        case (true, false): return "▄"
        case (true, true): return " "
        }
      }.joined()
    }
  }
}
