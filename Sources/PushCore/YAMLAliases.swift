import PushPolicy

/// The aliases of a YAML document (YAML 1.2 §7.1).
///
/// An alias stands for a whole list, which can have aliases of other lists: a document of some hundred bytes then has a
/// thousand million values. The library compares the names in a document with all of their values, so the aliases are
/// counted before it reads the text.
package enum YAMLAliases {
  /// The reason why a text with more than ``Limits/maximumYAMLAliases`` is refused.
  package static let excess =
    "more than \(Limits.maximumYAMLAliases) aliases (`*name`): write their values in place of them"

  /// Returns true if a text has too many aliases. An asterisk before a word counts as one, also in a comment.
  package static func areTooMany(in text: String) -> Bool {
    ReadingSteps.add(text.utf8.count)
    var (count, isAsterisk) = (0, false)
    for byte in text.utf8 {
      if isAsterisk, isPartOfName(byte) { count += 1 }
      isAsterisk = byte == UInt8(ascii: "*")
    }
    return count > Limits.maximumYAMLAliases
  }

  private static func isPartOfName(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"),
      UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), 0x80...:
      true
    default: false
    }
  }
}
