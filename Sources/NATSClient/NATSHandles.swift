import CNats
import Glibc

/// The library's handles of one connection. Sendable, because its owner calls it on one queue only.
@safe
final class NATSHandles: @unchecked Sendable {
  private var connection: OpaquePointer?
  private var subscriptions: [Int: OpaquePointer] = unsafe [:]
  private var number: Int?
  /// The number of the connection, increasing with each reconnect.
  private(set) var epoch = 0

  func nextEpoch() -> Int {
    epoch += 1
    return epoch
  }

  /// The maximum number of messages, and their bytes, that the library queues for one subscription.
  private static let (maximumPending, maximumPendingSize): (Int32, Int32) = (1 << 17, 64 << 20)

  /// The address of the broker; empty if none is connected.
  var server: String {
    guard let connection = unsafe connection else { return "" }
    return unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 512) { buffer in
      unsafe buffer.initialize(repeating: 0)
      guard unsafe natsConnection_GetConnectedUrl(connection, buffer.baseAddress, buffer.count) == NATS_OK else {
        return ""
      }
      return unsafe String(cString: buffer.baseAddress!)
    }
  }

  /// Opens the connection.
  ///
  /// - Parameter keepsTrying: true if the library keeps trying when no broker is reachable, and calls back when
  ///   one is connected.
  /// - Returns: the reason why there is no connection; ``NATSError/disconnected`` while the library keeps trying.
  func open(
    _ options: NATSOptions, servers: [String], keepsTrying: Bool, _ callbacks: NATSLibrary.Callbacks
  ) -> NATSError? {
    var handle: OpaquePointer?
    guard unsafe natsOptions_Create(&handle) == NATS_OK else { return .refused("NATS: out of memory") }
    defer { unsafe natsOptions_Destroy(handle) }
    let number = NATSLibrary.add(callbacks)
    self.number = number
    if let problem = unsafe set(options, servers, number, keepsTrying: keepsTrying, handle) { return problem }
    let status = unsafe natsConnection_Connect(&connection, handle)
    switch status {
    case NATS_OK: return nil
    case NATS_NOT_YET_CONNECTED: return .disconnected
    default: return NATSLibrary.error(status)
    }
  }

  private func set(
    _ options: NATSOptions, _ servers: [String], _ number: Int, keepsTrying: Bool, _ handle: OpaquePointer?
  ) -> NATSError? {
    let closure = unsafe NATSLibrary.closure(number)
    var steps: [(of: String, status: natsStatus)] = []
    unsafe steps.append(("servers", withServers(servers) { unsafe natsOptions_SetServers(handle, $0, Int32($1)) }))
    unsafe steps.append(("name", natsOptions_SetName(handle, options.name)))
    if let path = options.credentials {
      unsafe steps.append((path, natsOptions_SetUserCredentialsFromFiles(handle, path, nil)))
    }
    if let path = options.authority {
      unsafe steps.append((path, natsOptions_LoadCATrustedCertificates(handle, path)))
    }
    unsafe natsOptions_SetNoRandomize(handle, true)
    unsafe natsOptions_UseGlobalMessageDelivery(handle, true)
    unsafe natsOptions_SetMaxReconnect(handle, -1)
    unsafe natsOptions_SetReconnectWait(handle, 100)
    unsafe natsOptions_SetReconnectJitter(handle, 50, 50)
    // A message that is sent while no broker is connected fails immediately, instead of being sent late.
    unsafe natsOptions_SetReconnectBufSize(handle, 1)
    unsafe natsOptions_SetPingInterval(handle, 2000)
    unsafe natsOptions_SetMaxPingsOut(handle, 2)
    unsafe natsOptions_SetTimeout(handle, 2000)
    unsafe natsOptions_SetWriteDeadline(handle, 2000)
    unsafe natsOptions_SetMaxPendingMsgs(handle, NATSHandles.maximumPending)
    unsafe natsOptions_SetDisconnectedCB(handle, NATSLibrary.onDisconnected, closure)
    unsafe natsOptions_SetReconnectedCB(handle, NATSLibrary.onConnected, closure)
    unsafe natsOptions_SetClosedCB(handle, NATSLibrary.onClosed, closure)
    unsafe natsOptions_SetErrorHandler(handle, NATSLibrary.onError, closure)
    if keepsTrying { unsafe natsOptions_SetRetryOnFailedConnect(handle, true, NATSLibrary.onConnected, closure) }
    guard let failed = steps.first(where: { $0.status != NATS_OK }) else { return nil }
    return .refused("NATS: \(failed.of): \(NATSLibrary.text(failed.status))")
  }

  private func withServers(
    _ servers: [String], _ body: (UnsafeMutablePointer<UnsafePointer<CChar>?>, Int) -> natsStatus
  ) -> natsStatus {
    let copies = unsafe servers.map { unsafe strdup($0) }
    defer { for index in unsafe copies.indices { unsafe free(copies[index]) } }
    var pointers = unsafe copies.map { unsafe UnsafePointer<CChar>($0) }
    return unsafe pointers.withUnsafeMutableBufferPointer { unsafe body($0.baseAddress!, $0.count) }
  }

  /// Publishes a message.
  ///
  /// - Returns: the reason why it was not sent; nil if it was sent.
  func publish(_ subject: String, reply: String?, headers: [(name: String, value: String)], _ body: [UInt8])
    -> NATSError?
  {
    guard let connection = unsafe connection else { return .disconnected }
    guard let message = unsafe NATSLibrary.handle(subject, reply: reply, headers: headers, body) else {
      return .refused("invalid subject \(subject)")
    }
    defer { unsafe natsMsg_Destroy(message) }
    let status = unsafe natsConnection_PublishMsg(connection, message)
    return status == NATS_OK ? nil : NATSLibrary.error(status)
  }

  func subscribe(_ number: Int, _ subject: String, queue: String?) {
    guard let connection = unsafe connection, unsafe subscriptions[number] == nil else { return }
    var handle: OpaquePointer?
    let closure = unsafe NATSLibrary.closure(number)
    let status =
      if let queue {
        unsafe natsConnection_QueueSubscribe(&handle, connection, subject, queue, NATSLibrary.onMessage, closure)
      } else {
        unsafe natsConnection_Subscribe(&handle, connection, subject, NATSLibrary.onMessage, closure)
      }
    guard status == NATS_OK, let handle = unsafe handle else { return }
    unsafe natsSubscription_SetPendingLimits(handle, NATSHandles.maximumPending, NATSHandles.maximumPendingSize)
    unsafe subscriptions[number] = handle
  }

  func cancel(_ number: Int) {
    guard let handle = unsafe subscriptions.removeValue(forKey: number) else { return }
    unsafe natsSubscription_Unsubscribe(handle)
    unsafe natsSubscription_Destroy(handle)
  }

  /// Closes the connection; another may be opened.
  func close() {
    if let number { NATSLibrary.remove(number) }
    number = nil
    while let subscription = unsafe subscriptions.popFirst() { unsafe natsSubscription_Destroy(subscription.value) }
    guard let connection = unsafe connection else { return }
    unsafe natsConnection_Destroy(connection)
    unsafe self.connection = nil
  }
}
