import COpenSSL
import Glibc
import PushCore
import Synchronization

/// The keys that seal session tickets (RFC 5077, RFC 8446 §4.6.1). Their holder can decrypt resumed TLS 1.2 sessions,
/// so that no key is kept for long.
///
/// A key seals for an hour and opens for one more, as long as OpenSSL allows a session to live.
package final class TicketKeys: Sendable {
  /// The keys of this process.
  package static let shared = TicketKeys()

  /// The time that a key seals, in seconds.
  static let period: Int64 = 3600

  struct Key: Equatable {
    /// The name of the key in tickets (16 bytes).
    var name: [UInt8]
    /// The keys for AES-256 and HMAC-SHA-256.
    var cipher: [UInt8]
    var mac: [UInt8]

    /// Creates a random key; nil if the system has no random bytes.
    static func random() -> Key? {
      var bytes = [UInt8](repeating: 0, count: 80)
      guard unsafe RAND_bytes(&bytes, Int32(bytes.count)) == 1 else { return nil }
      return Key(name: Array(bytes[..<16]), cipher: Array(bytes[16..<48]), mac: Array(bytes[48...]))
    }
  }

  private struct State {
    var current: Key?
    /// The start of the current key, in seconds of ``now``.
    var since: Int64 = 0
    var previous: Key?
    /// The end of the previous key, in seconds of ``now``.
    var previousEnd: Int64 = 0
  }

  private let state = Mutex(State())
  private let now: @Sendable () -> Int64

  /// - Parameter now: returns the seconds of a clock that never goes back.
  init(now: @escaping @Sendable () -> Int64 = TicketKeys.uptime) { self.now = now }

  /// Returns keys of their own: tickets that other keys have sealed do not open with them.
  package static func separate() -> TicketKeys { TicketKeys() }

  private static func uptime() -> Int64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec)
  }

  /// Returns the key that seals now.
  func sealing() -> Key? {
    let now = now()
    return state.withLock { state in
      TicketKeys.rotate(&state, now)
      return state.current
    }
  }

  /// Returns the key of a ticket, with `isOld` true if the client needs a new ticket; nil if the ticket is too old,
  /// or from another process.
  func opening(_ name: some Collection<UInt8>) -> (key: Key, isOld: Bool)? {
    let now = now()
    return state.withLock { state in
      TicketKeys.rotate(&state, now)
      if let key = state.current, key.name.elementsEqual(name) { return (key, false) }
      if let key = state.previous, now < state.previousEnd, key.name.elementsEqual(name) { return (key, true) }
      return nil
    }
  }

  private static func rotate(_ state: inout State, _ now: Int64) {
    guard state.current == nil || now - state.since >= period else { return }
    state.previous = state.current
    state.previousEnd = state.since + 2 * period
    state.current = Key.random()
    state.since = now
  }

  /// OpenSSL's callback for ticket keys, called with the context of its connection.
  static let callback:
    @convention(c) (
      OpaquePointer?, UnsafeMutablePointer<UInt8>?, UnsafeMutablePointer<UInt8>?, OpaquePointer?, OpaquePointer?, Int32
    ) -> Int32 = { ssl, name, vector, cipher, mac, isSealing in
      guard let name = unsafe name, let vector = unsafe vector,
        let context = unsafe SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), 0)
      else { return -1 }
      let keys = unsafe Unmanaged<TicketKeys>.fromOpaque(context).takeUnretainedValue()
      if isSealing != 0 {
        guard let key = keys.sealing(), unsafe RAND_bytes(vector, 16) == 1 else { return -1 }
        unsafe name.update(from: key.name, count: 16)
        let isReady =
          unsafe EVP_EncryptInit_ex(cipher, EVP_aes_256_cbc(), nil, key.cipher, vector) == 1 && use(key.mac, mac)
        return isReady ? 1 : -1
      }
      guard let (key, isOld) = unsafe keys.opening(UnsafeBufferPointer(start: name, count: 16)) else { return 0 }
      guard unsafe EVP_DecryptInit_ex(cipher, EVP_aes_256_cbc(), nil, key.cipher, vector) == 1, unsafe use(key.mac, mac)
      else { return -1 }
      return isOld ? 2 : 1
    }

  private static func use(_ key: [UInt8], _ context: OpaquePointer?) -> Bool {
    unsafe COpenSSL_use_hmac_sha256(context, key, key.count) == 1
  }
}
