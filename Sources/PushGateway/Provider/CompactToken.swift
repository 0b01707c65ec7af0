import PushCore
import PushPolicy

/// The parts of a signed token in its compact form (RFC 7515 §7.1), decoded and not verified.
struct CompactToken {
  let header: [UInt8]
  let claims: [UInt8]
  let signature: [UInt8]
  /// The bytes that the signature covers.
  let signed: ArraySlice<UInt8>

  /// - Returns: nil for bytes of another form.
  init?(_ bytes: [UInt8]) {
    ReadingSteps.add(bytes.count)
    let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count == 3, let header = Base64URL.decode(parts[0]), let claims = Base64URL.decode(parts[1]),
      let signature = Base64URL.decode(parts[2])
    else { return nil }
    (self.header, self.claims, self.signature) = (header, claims, signature)
    signed = bytes[..<parts[1].endIndex]
  }
}
