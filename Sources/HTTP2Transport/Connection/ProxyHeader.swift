/// The header of the PROXY protocol, version 2: the client for which a balancer opens a connection
/// (https://www.haproxy.org/download/2.9/doc/proxy-protocol.txt §2.2).
package struct ProxyHeader: Equatable, Sendable {
  /// The owner of the connection.
  package enum Origin: Equatable, Sendable {
    /// The balancer's own, as one that asks whether the gateway is there.
    case balancer
    /// A client's; nil where the balancer does not say its address, or that is none of IP.
    case client(IPAddress?)
  }

  package var origin: Origin
  /// The header's length in bytes.
  package var size: Int

  /// An error: the bytes are no such header.
  package struct Malformed: Error {}

  private static let signature: [UInt8] = [0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A]
  private static let fixedSize = 16
  /// Bytes beyond the fixed part of a header: the addresses, and further facts about the client, which are skipped.
  static let maximumLength = 2048

  /// Reads the header at the beginning of what came.
  ///
  /// - Returns: nil where more has to come.
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

  /// The source address of a client, which is first in the part with addresses.
  private static func source(_ bytes: ArraySlice<UInt8>, family: UInt8) throws(Malformed) -> IPAddress? {
    // Two addresses and two ports.
    let size = family == 1 ? 4 : 16
    guard family == 1 || family == 2 else { return nil }
    guard bytes.count >= 2 * size + 4 else { throw Malformed() }
    return IPAddress(bytes: bytes.prefix(size))
  }
}
