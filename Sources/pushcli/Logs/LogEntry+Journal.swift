import Logging
import TerminalUI

extension LogEntry {
  /// The entry in the format of journald: a datagram of fields (systemd's "Native Journal Protocol").
  ///
  /// The fields of the event are separate journal fields, such as `PUSHGATEWAY_EVENT`: `journalctl
  /// PUSHGATEWAY_EVENT=disk-low`.
  var journal: [UInt8] {
    var bytes: [UInt8] = []
    func append(_ name: String, _ value: String) {
      bytes += name.utf8
      guard value.utf8.contains(UInt8(ascii: "\n")) else {
        bytes.append(UInt8(ascii: "="))
        bytes += value.utf8
        return bytes.append(UInt8(ascii: "\n"))
      }
      // The size of a value with several lines precedes the value.
      bytes.append(UInt8(ascii: "\n"))
      for shift in stride(from: UInt64(0), to: 64, by: 8) {
        bytes.append(UInt8(truncatingIfNeeded: UInt64(value.utf8.count) >> shift))
      }
      bytes += value.utf8
      bytes.append(UInt8(ascii: "\n"))
    }
    append("MESSAGE", Sanitizer.escaped(message))
    append("PRIORITY", "\(level.priority)")
    append("SYSLOG_IDENTIFIER", "pushgateway")
    if !file.isEmpty {
      append("CODE_FILE", file)
      append("CODE_LINE", "\(line)")
      append("CODE_FUNC", function)
    }
    if let event { append("PUSHGATEWAY_EVENT", event) }
    for field in fields { append(LogEntry.journalName(field.name), Sanitizer.escaped(field.value)) }
    return bytes
  }

  /// Converts the name of a field to capital letters, digits and `_`, at most 64 characters.
  private static func journalName(_ name: String) -> String {
    let letters = name.uppercased().unicodeScalars.map { scalar -> Character in
      switch scalar {
      case "A"..."Z", "0"..."9": Character(scalar)
      default: "_"
      }
    }
    return String(("PUSHGATEWAY_" + String(letters)).prefix(64))
  }
}

extension Logger.Level {
  /// The priority number of syslog.
  fileprivate var priority: Int {
    switch self {
    case .critical: 2
    case .error: 3
    case .warning: 4
    case .notice: 5
    case .info: 6
    case .debug, .trace: 7
    }
  }
}
