import CQRencode

/// Draws a text as a QR code, with two rows of modules per line. Light modules are drawn, as most terminals are dark;
/// readers also accept inverted codes.
///
/// - Returns: nil if the text exceeds the capacity of a QR code.
func qrCodeLines(_ text: String) -> [String]? {
  guard let code = unsafe QRcode_encodeString(text, 0, QR_ECLEVEL_M, QR_MODE_8, 1) else { return nil }
  defer { unsafe QRcode_free(code) }
  let size = unsafe Int(code.pointee.width)
  let modules = (0..<size * size).map { unsafe code.pointee.data[$0] & 1 == 1 }
  func isDark(_ row: Int, _ column: Int) -> Bool {
    (0..<size).contains(row) && (0..<size).contains(column) && modules[row * size + column]
  }
  // Readers need four light modules around a code to find it.
  let range = -4..<size + 4
  return stride(from: range.lowerBound, to: range.upperBound, by: 2).map { row in
    range.map { column -> String in
      switch (isDark(row, column), isDark(row + 1, column)) {
      case (false, false): return "█"
      case (false, true): return "▀"
      case (true, false): return "▄"
      case (true, true): return " "
      }
    }.joined()
  }
}
