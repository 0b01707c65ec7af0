import Logging
import PushCore
import Synchronization

/// The file with the gateway's addresses, for commands on this machine. If the disk has no space for it, the gateway
/// runs without it and repeats the write. A warning is logged for the first failure after a success.
final class AddressFile: Sendable {
  private let folder: StateFolder
  private let logger: Logger
  private let state = Mutex((http: [String](), written: [[String]](), isFailing: false))

  init(_ folder: StateFolder, logger: Logger) { (self.folder, self.logger) = (folder, logger) }

  /// The addresses of the HTTP/1.1 server.
  var http: [String] { state.withLock { $0.http } }

  func note(http: [String]) { state.withLock { $0.http = http } }

  func write(_ addresses: [String]) {
    state.withLock { state in
      if state.written == [addresses, state.http] { return }
      do {
        try folder.announce(addresses, http: state.http)
        (state.written, state.isFailing) = ([addresses, state.http], false)
      } catch {
        if !state.isFailing {
          logger.log(.gatewayNotAnnounced, "commands on this machine can't find the gateway yet: \(error)")
        }
        state.isFailing = true
      }
    }
  }
}
