import ArgumentParser

/// The option for JSON output.
struct FormatOptions: ParsableArguments, OutputForm {
  static let help: ArgumentHelp = "Print JSON: one object, or one object a line."

  @Flag(name: .long, help: help)
  var json = false
}

/// Prints results as JSON or for users, as the options of a command demand.
protocol OutputForm {
  var json: Bool { get }
}

extension OutputForm {
  /// Prints a value as JSON, or a message to the user.
  func print(_ value: some Encodable, words: @autoclosure () -> String) {
    if json { Output.json(value) } else { Output.words(words()) }
  }

  /// Prints a value as JSON, or a line of data.
  func print(_ value: some Encodable, data: @autoclosure () -> String) {
    if json { Output.json(value) } else { Output.data(data()) }
  }

  /// Prints values as lines of JSON, or as the rows of a table.
  func print<Row: Encodable>(lines rows: [Row], _ header: [String], cells: (Row) -> [String]) {
    if json { Output.json(lines: rows) } else { Output.table(header, rows.map(cells)) }
  }
}
