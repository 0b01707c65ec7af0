import COpenSSL

/// A failure inside OpenSSL, or of what it was given.
package struct TLSError: Error, CustomStringConvertible {
  package enum Kind: Sendable {
    /// The other end is not the one that it should be.
    case untrusted
    /// A file of this side is not what it should be.
    case file
    case other
  }

  package var kind: Kind
  /// Whether no trusted CA has issued the other end's certificate.
  package var isOfAuthority = false
  /// One line for people.
  package var description: String

  package init(_ description: String, kind: Kind = .other) {
    self.description = description
    self.kind = kind
  }

  /// A file that is not what it should be; what OpenSSL has to say of it is for those who know its parser.
  package init(file description: String) {
    ERR_clear_error()
    self.init(description, kind: .file)
  }

  /// Takes the oldest entry of OpenSSL's error queue and empties the queue.
  package init(openSSL action: String) {
    kind = .other
    var buffer = [CChar](repeating: 0, count: 256)
    let code = ERR_get_error()
    guard code != 0 else {
      description = action
      return
    }
    unsafe ERR_error_string_n(code, &buffer, buffer.count)
    ERR_clear_error()
    let text = String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    description = "\(action): \(text.split(separator: ":").last ?? "")"
  }
}
