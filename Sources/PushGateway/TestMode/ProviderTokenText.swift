import PushCore
import PushPolicy

/// The data that a provider token states, without its verification.
struct ProviderTokenText: Sendable, Equatable {
  var keyID: String?
  var team: String?
  /// Seconds since 1970.
  var issued: Int64?
  var bytes: [UInt8]

  /// Reads the value of `authorization`; nil if it is not a token of three parts with JSON.
  init?(authorization field: [UInt8], by parser: JSONParser) {
    let token = field.drop { $0 != UInt8(ascii: " ") }.drop { $0 == UInt8(ascii: " ") }
    let parts = token.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count == 3, let header = Base64URL.decode(parts[0]), let claims = Base64URL.decode(parts[1]),
      let head = JSONValue(parsing: header, by: parser), let body = JSONValue(parsing: claims, by: parser)
    else { return nil }
    bytes = Array(token)
    keyID = head["kid"]?.text.flatMap(ProviderTokenText.identifier)
    team = body["iss"]?.text.flatMap(ProviderTokenText.identifier)
    switch body["iat"] {
    case .integer(let seconds)?: issued = Int64(seconds)
    case .number(let seconds)? where (0...Double(1 << 53)).contains(seconds): issued = Int64(seconds)
    case .string(let text)?: issued = Int64(text)
    default: issued = nil
    }
  }

  /// Returns an identifier of Apple's form, of 10 capitals and digits; nil for any other text.
  private static func identifier(_ text: String) -> String? {
    text.utf8.count == 10 && text.utf8.allSatisfy(\.isUpperOrDigit) ? text : nil
  }

  /// Returns the age of the token in seconds; nil if it has no usable issue time.
  func age(at now: Int64, correction: Int64) -> Int? {
    guard let issued, (0...Int64(1 << 53)).contains(issued) else { return nil }
    return Int(now - issued - correction)
  }
}
