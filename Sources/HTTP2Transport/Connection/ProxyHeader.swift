/// The header of the PROXY protocol, version 2: the client for which a load balancer opens a connection
/// (https://www.haproxy.org/download/2.9/doc/proxy-protocol.txt §2.2).
package struct ProxyHeader: Equatable, Sendable {
  /// The owner of the connection.
  package enum Origin: Equatable, Sendable {
    /// The load balancer itself, for example for a health check.
    case balancer
    /// A client; nil if the load balancer does not send its address, or sends no IP address.
    case client(IPAddress?)
  }

  package var origin: Origin
  /// The header's length in bytes.
  package var size: Int

  /// An error: the bytes are not a valid header.
  package struct Malformed: Error {}

  private static let signature: [UInt8] = [0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A]
  private static let fixedSize = 16
  /// The maximum number of bytes after the fixed part of a header: the addresses, and further data about the client,
  /// which is skipped.
  static let maximumLength = 2048

  /// Parses the header at the beginning of the received bytes.
  ///
  /// - Returns: nil if the header is incomplete.
  /// - Throws: ``Malformed`` if the bytes are not a valid header.
  static func read(_ bytes: [UInt8]) throws(Malformed) -> ProxyHeader? {
    guard bytes.prefix(signature.count).elementsEqual(signature.prefix(bytes.count)) else { throw Malformed() }
    guard bytes.count >= fixedSize else { return nil }
    let length = Int(bytes[14]) << 8 | Int(bytes[15])
    guard bytes[12] >> 4 == 2, length <= maximumLength else { throw Malformed() }
    let size = fixedSize + length
    guard bytes.count >= size else { return nil }
    switch bytes[12] & 0xF {
    case 0: return ProxyHeader(origin: .balancer, size: size)
    case 1: return ProxyHeader(origin: .client(try source(bytes[fixedSize..<size], family: bytes[13] >> 4)), size: size)
    default: throw Malformed()
    }
  }

  /// Returns the source address of a client, which is first in the part with the addresses; nil if it is not an
  /// IP address.
  private static func source(_ bytes: ArraySlice<UInt8>, family: UInt8) throws(Malformed) -> IPAddress? {
    // The part contains two addresses and two ports.
    let size = family == 1 ? 4 : 16
    guard family == 1 || family == 2 else { return nil }
    guard bytes.count >= 2 * size + 4 else { throw Malformed() }
    return IPAddress(bytes: bytes.prefix(size))
  }
}
