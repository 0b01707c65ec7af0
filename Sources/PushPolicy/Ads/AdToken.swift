/// A token of a text: a word, an ideograph, or a placeholder for a number, an address or a boundary.
struct AdToken {
  enum Kind: UInt8 {
    case word, ideograph
    /// A number, an amount or an address. It is not a feature alone: only the adjacent tokens give it a meaning.
    case placeholder
    /// The end of a clause or of a text. No phrase or n-gram of tokens crosses it.
    case boundary
  }

  /// The key of the token, the same for all spellings of a word.
  var key: UInt64
  /// The index of the first unit, and the index after the last; see ``AdReader``.
  var start: Int32
  var end: Int32
  var kind: Kind
}
