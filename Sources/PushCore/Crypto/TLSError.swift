import COpenSSL

/// A failure in OpenSSL, or of data that was given to it.
package struct TLSError: Error, CustomStringConvertible {
  package enum Kind: Sendable {
    /// The certificate of the peer can't be trusted.
    case untrusted
    /// The peer answers in another protocol.
    case notTLS
    /// A local file has unexpected content.
    case file
    case other
  }

  package var kind: Kind
  /// True if another attempt fails in the same way: the peer can't be trusted, or answers in another protocol.
  package var isFinal: Bool { kind == .untrusted || kind == .notTLS }
  /// True if no trusted CA has issued the certificate of the peer.
  package var isOfAuthority = false
  /// One line for users.
  package var description: String

  package init(_ description: String, kind: Kind = .other) {
    self.description = description
    self.kind = kind
  }

  /// Makes an error of a file with unexpected content. OpenSSL's own messages are dropped: they only describe its
  /// parser.
  package init(file description: String) {
    ERR_clear_error()
    self.init(description, kind: .file)
  }

  /// Makes an error from the oldest entry of OpenSSL's error queue, and empties the queue.
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
