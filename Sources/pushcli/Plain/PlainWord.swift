/// A word at the beginning of a line: a row of the table from which the parser and the help are made.
struct PlainWord: Sendable {
  /// The operation of a word.
  enum Verb: Sendable, CaseIterable {
    case help, status, apps, center, list, unread, search, more, open, payload, link, save, copy, report, unsubscribe,
      mark, clear, undo, redo, alerts, answer, close, view, silent, ring, settings, set, tryNow, noted, compose, quit
  }

  /// The kind of text that can follow a word.
  enum Rest: Sendable {
    case nothing
    /// The number of a push in the list; without one, the push that was read last.
    case number
    /// Numbers of pushes, or a name.
    case numbers
    case text
  }

  var verb: Verb
  var name: String
  /// Other names of the word.
  var others: [String] = []
  var rest = Rest.nothing
  /// The form of the text after the word, for the help.
  var shape = ""
  /// True if the text after the word is required.
  var isNeeded = false
  /// The operation in a few words.
  var help: String
  var example = ""

  var names: [String] { [name] + others }

  /// The word with the form of its text.
  var usage: String { shape.isEmpty ? name : "\(name) \(shape)" }

  /// The table: one row per word, in the order of the help.
  static let all: [PlainWord] = [
    PlainWord(
      verb: .status, name: "status", others: ["home"],
      help: "print the state of the connection, and the numbers of alerts and unread pushes"),
    PlainWord(verb: .apps, name: "apps", help: "list the apps with their badges"),
    PlainWord(verb: .alerts, name: "alerts", help: "list the pending alerts with their numbers"),
    PlainWord(
      verb: .close, name: "close", rest: .numbers, shape: "[NUMBER ... | APP | all | everything]",
      help: "close the current alert, or others; all keeps questions and urgent alerts, everything closes them, too",
      example: "close 3"),
    PlainWord(
      verb: .view, name: "view", rest: .number, shape: "[NUMBER]", help: "view the current alert, or another one",
      example: "view 3"),
    PlainWord(
      verb: .answer, name: "answer", rest: .text, shape: "[NUMBER] BUTTON", isNeeded: true,
      help: "press a button of the current alert, or of push NUMBER; BUTTON is its position or first letters",
      example: "answer 3 approve"),
    PlainWord(
      verb: .center, name: "center", others: ["notifications"],
      help: "list all notifications by app, the newest first"),
    PlainWord(verb: .unread, name: "unread", help: "list the unread notifications by app"),
    PlainWord(
      verb: .list, name: "list", others: ["app"], rest: .text, shape: "APP", isNeeded: true,
      help: "list all pushes of an app", example: "list News"),
    PlainWord(
      verb: .search, name: "search", others: ["find"], rest: .text, shape: "TEXT [in WHERE]", isNeeded: true,
      help: "list notifications with TEXT; WHERE is unread, an app, critical, time-sensitive, active or passive",
      example: "search train in unread"),
    PlainWord(verb: .more, name: "more", others: ["next"], help: "print the rest of a long output"),
    PlainWord(
      verb: .open, name: "open", others: ["read"], rest: .number, shape: "NUMBER", help: "print the whole push",
      example: "open 3"),
    PlainWord(
      verb: .payload, name: "payload", rest: .number, shape: "[NUMBER]", help: "print the payload of a push, as JSON",
      example: "payload 3"),
    PlainWord(
      verb: .link, name: "link", rest: .number, shape: "[NUMBER]", help: "open the link of a push",
      example: "link 3"),
    PlainWord(
      verb: .save, name: "save", rest: .number, shape: "[NUMBER]", help: "save the attachment of a push",
      example: "save 3"),
    PlainWord(
      verb: .copy, name: "copy", rest: .number, shape: "[NUMBER]", help: "copy the text of a push", example: "copy 3"),
    PlainWord(
      verb: .report, name: "report", rest: .number, shape: "[NUMBER]", help: "report a push as an advertisement",
      example: "report 3"),
    PlainWord(
      verb: .unsubscribe, name: "unsubscribe", rest: .number, shape: "[NUMBER]",
      help: "end the marketing of the app of the current alert, or of push NUMBER", example: "unsubscribe 3"),
    PlainWord(
      verb: .mark, name: "mark", rest: .numbers, shape: "NUMBER ... | APP | all", isNeeded: true, help: "mark as read",
      example: "mark 2-5"),
    PlainWord(
      verb: .clear, name: "clear", rest: .numbers, shape: "NUMBER ... | APP | all", isNeeded: true,
      help: "remove pushes from the notification center", example: "clear 2 4-6"),
    PlainWord(verb: .undo, name: "undo", help: "undo the last removal"),
    PlainWord(verb: .redo, name: "redo", help: "repeat the removal that was undone"),
    PlainWord(
      verb: .silent, name: "silent", others: ["mute"], rest: .text, shape: "[on | off]",
      help: "turn sounds off, except critical ones"),
    PlainWord(verb: .ring, name: "ring", others: ["unmute"], help: "turn sounds on"),
    PlainWord(
      verb: .settings, name: "settings", rest: .text, shape: "[APP | device | everything]",
      help: "list the preferences of this user with their numbers", example: "settings News"),
    PlainWord(
      verb: .set, name: "set", rest: .text, shape: "NUMBER VALUE | [APP] NAME VALUE", isNeeded: true,
      help: "change a setting; without VALUE, list its values", example: "set News budget 5"),
    PlainWord(verb: .tryNow, name: "try", others: ["retry"], help: "connect at once, if the device is not connected"),
    PlainWord(verb: .noted, name: "noted", help: "remove the report of evicted pushes"),
    PlainWord(
      verb: .compose, name: "compose", others: ["send"], rest: .text, shape: "[APP]",
      help: "write a push; the state folder needs a sender's key"),
    PlainWord(
      verb: .help, name: "help", others: ["?"], rest: .text, shape: "[WORD]",
      help: "list all commands, or explain one"),
    PlainWord(
      verb: .quit, name: "quit", others: ["q", "exit", "bye"],
      help: "quit, and close the current alert; other alerts stay pending"),
  ]

  /// Returns the row of a word, in any case.
  static func named(_ name: String) -> PlainWord? {
    let name = name.lowercased()
    return all.first { $0.names.contains(name) }
  }
}
