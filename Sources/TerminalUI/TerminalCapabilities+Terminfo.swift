import Glibc

/// The system's terminal descriptions: compiled entries (term(5)).
extension TerminalCapabilities {
  /// Returns the number of colors of a terminal type; nil if the system has no description of it.
  package static func colorCount(_ term: String) -> Int? {
    guard let first = term.utf8.first, !term.contains("/"), term.utf8.count < 100 else { return nil }
    let hexadecimal = String(first, radix: 16)
    for folder in folders {
      for part in [String(term.prefix(1)), hexadecimal] {
        if let entry = contents("\(folder)/\(part)/\(term)") { return colorCount(entry: entry) }
      }
    }
    return nil
  }

  private static var folders: [String] {
    func value(_ name: String) -> String? { unsafe getenv(name).map { unsafe String(cString: $0) } }
    return [value("TERMINFO"), value("HOME").map { $0 + "/.terminfo" }].compactMap(\.self)
      + ["/etc/terminfo", "/lib/terminfo", "/usr/share/terminfo", "/usr/lib/terminfo"]
  }

  /// The maximum number of bytes that are read of an entry; entries have a few KiB.
  private static let maximumEntrySize = 32_768

  private static func contents(_ path: String) -> [UInt8]? {
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: maximumEntrySize)
    let count = unsafe read(file, &bytes, bytes.count)
    return count > 0 ? Array(bytes.prefix(count)) : nil
  }

  /// Reads the 14th number of an entry. The numbers follow the header, the names, the flags, and a padding byte if
  /// needed to begin at an even offset.
  static func colorCount(entry: [UInt8]) -> Int? {
    func short(_ place: Int) -> Int? {
      place >= 0 && place + 1 < entry.count ? Int(entry[place]) | Int(entry[place + 1]) << 8 : nil
    }
    guard let magic = short(0), let names = short(2), let flags = short(4), let numbers = short(6),
      [0o432, 0o1036].contains(magic), numbers > 13
    else { return nil }
    let size = magic == 0o432 ? 2 : 4
    let start = 12 + names + flags
    guard let low = short(start + start % 2 + 13 * size), low != 0xFFFF else { return 0 }
    return size == 4 ? low | (short(start + start % 2 + 13 * size + 2) ?? 0) << 16 : low
  }
}
