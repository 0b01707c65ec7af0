import COpenSSL

/// A failure inside OpenSSL, or of what it was given.
package struct TLSError: Error, CustomStringConvertible {
  /// One line for people.
  package var description: String

  package init(_ description: String) { self.description = description }

  /// Takes the oldest entry of OpenSSL's error queue and empties the queue.
  package init(openSSL action: String) {
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
