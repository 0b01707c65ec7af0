package import Logging

extension Logger {
  /// Logs an event of the table at its level. `message` and `metadata` are not evaluated if that level is not logged.
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
  /// The metadata field with the name of the event.
  package static let field = "event"
}
