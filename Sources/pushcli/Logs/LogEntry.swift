import Logging
import PushCore

/// One event of the gateway's log, cut to its limits.
struct LogEntry: Sendable, Equatable {
  /// The time in milliseconds since 1970.
  var at: Int64
  var level: Logger.Level
  /// The name of the event in ``LoggedEvent``; nil for events outside of that table, such as those of a library.
  var event: String?
  var message: String
  /// The metadata of the event, sorted by name.
  var fields: [Field] = []
  var file = ""
  var function = ""
  var line: UInt = 0

  struct Field: Sendable, Equatable {
    var name: String
    var value: String
  }

  /// The maximum size of a message in bytes; a longer message is cut.
  static let maximumMessageSize = 8 << 10
  /// The maximum size of a field's value in bytes; a longer value is cut.
  static let maximumValueSize = 2 << 10
  static let maximumFields = 24

  init(at: Int64, _ event: Logging.LogEvent, _ metadata: Logger.Metadata) {
    self.at = at
    level = event.level
    message = LogEntry.cut(event.message.description, LogEntry.maximumMessageSize)
    self.event = metadata[LoggedEvent.field].map { "\($0)" }
    fields = metadata.filter { $0.key != LoggedEvent.field }.sorted { $0.key < $1.key }.prefix(LogEntry.maximumFields)
      .map { Field(name: $0.key, value: LogEntry.cut("\($0.value)", LogEntry.maximumValueSize)) }
    (file, function, line) = (event.file, event.function, event.line)
  }

  init(
    at: Int64, _ level: Logger.Level, event: String?, _ message: String, fields: [Field] = []
  ) {
    (self.at, self.level, self.event, self.message, self.fields) = (at, level, event, message, fields)
  }

  private static func cut(_ text: String, _ size: Int) -> String {
    guard text.utf8.count > size else { return text }
    return String(decoding: text.utf8.prefix(size), as: UTF8.self) + "…"
  }

  /// The time by RFC 3339, in UTC.
  var timestamp: String { Timestamp.text(at) }
}
