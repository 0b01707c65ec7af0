/// One text of an alert in a payload: a plain text, or a key of the app's strings file with its arguments.
///
/// The gateway's devices have no strings file, so a key is shown like a key without a localization: it is its own
/// format.
struct LocalizedText {
  /// The maximum size in bytes of UTF-8 up to which arguments are filled into a format. A format may repeat an
  /// argument, so a payload could otherwise grow a hundredfold.
  static let maximumSize = 4096

  var plain: String?
  var key: String?
  var arguments: [String] = []

  /// The arguments that the text does not contain, without empty ones. An argument is not searched for in the text: 900
  /// arguments and a text of 4 KB took a tenth of a second.
  var unusedArguments: [String] {
    var used: Set<Int> = []
    if plain == nil, let key { _ = Self.fill(key, with: arguments, used: &used) }
    let shown = Set(used.map { arguments[$0] })
    return arguments.filter { !$0.isEmpty && !shown.contains($0) }
  }

  /// The text that is shown; empty if there is none.
  var shown: String { plain ?? key.map { Self.fill($0, with: arguments) } ?? "" }

  /// Reads a plain text: a string, or, as in Live Activities, an object with `loc-key` and `loc-args`.
  mutating func read(plain value: JSONElement) {
    if let string = value.string {
      plain = string
    } else if let key = value["loc-key"]?.string {
      var localized = LocalizedText(key: key)
      if let arguments = value["loc-args"] { localized.read(arguments: arguments) }
      plain = localized.shown
    }
  }

  mutating func read(key value: JSONElement) {
    key = value.string ?? key
  }

  /// Reads an array of strings. Other elements count as empty strings, so that the numbers of the others don't
  /// change.
  mutating func read(arguments value: JSONElement) {
    guard value.kind == .array else { return }
    arguments = []
    value.forEachElement { arguments.append($0.string ?? "") }
  }

  /// Returns `format` with `%@` replaced by the next argument, `%n$@` by the n-th from 1, and `%%` by `%`.
  ///
  /// A placeholder without an argument, or with one that would exceed ``maximumSize``, stays in the text.
  static func fill(_ format: String, with arguments: [String]) -> String {
    var used: Set<Int> = []
    return fill(format, with: arguments, used: &used)
  }

  /// Fills a format, and adds the indexes of the arguments that the result contains to `used`.
  private static func fill(_ format: String, with arguments: [String], used: inout Set<Int>) -> String {
    ReadingSteps.add(format.utf8.count)
    var filled = ""
    var followingArgument = 0
    var rest = Substring(format).utf8
    while let percent = rest.firstIndex(of: UInt8(ascii: "%")) {
      filled += Substring(rest[..<percent])
      rest = rest[percent...]
      let digits = rest.dropFirst().prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
      let conversion = rest[digits.endIndex...]
      var position = rest.prefix(1)
      var argument: Int?
      if digits.isEmpty, conversion.first == UInt8(ascii: "%") {
        position = conversion.prefix(1)
      } else if digits.isEmpty, conversion.first == UInt8(ascii: "@") {
        position = rest.prefix(2)
        argument = followingArgument
        followingArgument += 1
      } else if conversion.starts(with: "$@".utf8) {
        position = rest[..<conversion.index(conversion.startIndex, offsetBy: 2)]
        argument = Int(Substring(digits)).map { $0 - 1 }
      }
      if let argument, arguments.indices.contains(argument),
        filled.utf8.count + arguments[argument].utf8.count <= maximumSize
      {
        filled += arguments[argument]
        used.insert(argument)
      } else {
        filled += Substring(position)
      }
      rest = rest[position.endIndex...]
    }
    return filled + Substring(rest)
  }
}
