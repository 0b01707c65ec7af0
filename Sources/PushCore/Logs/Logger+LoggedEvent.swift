package import Logging

extension Logger {
  /// Logs an event of the table, with its level. Nothing is made of `message` and `metadata` where that is not logged.
  package func log(
    _ event: LoggedEvent, _ message: @autoclosure () -> Logger.Message,
    metadata: @autoclosure () -> Logger.Metadata = [:],
    file: String = #fileID, function: String = #function, line: UInt = #line
  ) {
    guard logLevel <= event.level else { return }
    var metadata = metadata()
    metadata[LoggedEvent.field] = .string(event.rawValue)
    log(level: event.level, message(), metadata: metadata, file: file, function: function, line: line)
  }
}

extension LoggedEvent {
  /// The field of a line that has the event's name.
  package static let field = "event"
}
