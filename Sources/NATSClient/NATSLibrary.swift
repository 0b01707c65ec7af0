import CNats
import Synchronization

/// The callbacks of the C library, by number. Its closures are numbers instead of pointers, so that a late call can't
/// access a released object.
enum NATSLibrary {
  /// The callbacks for messages and for changes of a connection.
  struct Callbacks: Sendable {
    var message: @Sendable (NATSMessage) -> Void = { _ in }
    var connected: @Sendable () -> Void = {}
    var disconnected: @Sendable () -> Void = {}
    var closed: @Sendable () -> Void = {}
    var slow: @Sendable () -> Void = {}
  }

  private static let table = Mutex<(last: Int, callbacks: [Int: Callbacks])>((0, [:]))

  static func add(_ callbacks: Callbacks) -> Int {
    table.withLock { table in
      table.last += 1
      table.callbacks[table.last] = callbacks
      return table.last
    }
  }

  static func remove(_ number: Int) { _ = table.withLock { $0.callbacks.removeValue(forKey: number) } }

  static func callbacks(_ closure: UnsafeMutableRawPointer?) -> Callbacks? {
    let number = Int(bitPattern: closure)
    return table.withLock { $0.callbacks[number] }
  }

  static func closure(_ number: Int) -> UnsafeMutableRawPointer? { unsafe UnsafeMutableRawPointer(bitPattern: number) }

  static func text(_ status: natsStatus) -> String { unsafe String(cString: natsStatus_GetText(status)) }

  static func error(_ status: natsStatus) -> NATSError {
    switch status {
    case NATS_CONNECTION_CLOSED: .closed
    case NATS_CONNECTION_DISCONNECTED, NATS_NO_SERVER, NATS_INSUFFICIENT_BUFFER, NATS_IO_ERROR: .disconnected
    case NATS_TIMEOUT: .timedOut
    default: .refused("NATS: \(text(status))")
    }
  }

  /// Copies a message of the library.
  static func message(_ handle: OpaquePointer) -> NATSMessage {
    let count = unsafe Int(natsMsg_GetDataLength(handle))
    let data = unsafe UnsafeRawBufferPointer(start: natsMsg_GetData(handle), count: count)
    return unsafe NATSMessage(
      subject: String(cString: natsMsg_GetSubject(handle)),
      reply: natsMsg_GetReply(handle).map { unsafe String(cString: $0) },
      headers: headers(handle), body: Array(data))
  }

  private static func headers(_ handle: OpaquePointer) -> [(name: String, value: String)] {
    var (keys, count): (UnsafeMutablePointer<UnsafePointer<CChar>?>?, Int32) = (nil, 0)
    guard unsafe natsMsgHeader_Keys(handle, &keys, &count) == NATS_OK, let keys = unsafe keys else { return [] }
    defer { unsafe free(keys) }
    var headers: [(name: String, value: String)] = []
    for index in 0..<Int(count) {
      guard let key = unsafe keys[index] else { continue }
      var value: UnsafePointer<CChar>?
      guard unsafe natsMsgHeader_Get(handle, key, &value) == NATS_OK else { continue }
      let text = if let value = unsafe value { unsafe String(cString: value) } else { "" }
      unsafe headers.append((String(cString: key), text))
    }
    return headers
  }

  /// Returns a message for the library; the caller frees it.
  static func handle(
    _ subject: String, reply: String?, headers: [(name: String, value: String)], _ body: [UInt8]
  ) -> OpaquePointer? {
    var message: OpaquePointer?
    let status = unsafe body.withUnsafeBytes { bytes in
      unsafe natsMsg_Create(
        &message, subject, reply, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(bytes.count))
    }
    guard status == NATS_OK else { return nil }
    // The library reads no header of a message that contains an empty one.
    for header in headers where !header.value.isEmpty { unsafe natsMsgHeader_Add(message, header.name, header.value) }
    return unsafe message
  }

  /// Called for each message of a subscription.
  static let onMessage: natsMsgHandler = { _, _, message, closure in
    guard let message = unsafe message else { return }
    let callbacks = unsafe NATSLibrary.callbacks(closure)
    if let callbacks { callbacks.message(unsafe NATSLibrary.message(message)) }
    unsafe natsMsg_Destroy(message)
  }

  static let onConnected: natsConnectionHandler = { _, closure in unsafe callbacks(closure)?.connected() }
  static let onDisconnected: natsConnectionHandler = { _, closure in unsafe callbacks(closure)?.disconnected() }
  static let onClosed: natsConnectionHandler = { _, closure in unsafe callbacks(closure)?.closed() }
  static let onError: natsErrHandler = { _, _, status, closure in
    if status == NATS_SLOW_CONSUMER { unsafe callbacks(closure)?.slow() }
  }
}
