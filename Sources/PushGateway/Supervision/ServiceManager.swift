import Foundation
import Glibc

/// The service manager that started the process: `sd_notify(3)`, without its library.
package struct ServiceManager: Sendable {
  /// The address of a datagram socket: a path, or a name after `@`; nil if there is no service manager.
  private let address: String?
  /// The timeout of the watchdog in microseconds; nil if it is disabled.
  private let watchdogMicroseconds: Int64?
  /// The timeout of the watchdog during a start, in microseconds: `TimeoutStartSec` of the unit.
  private static let startMicroseconds: Int64 = 300_000_000

  /// The timeout of the watchdog; nil if it is disabled.
  package var watchdogTime: Duration? { watchdogMicroseconds.map { Duration.microseconds($0) } }

  /// - Parameter environment: the variables, of which `NOTIFY_SOCKET`, `WATCHDOG_USEC` and `WATCHDOG_PID` are read.
  package init(_ environment: [String: String], process: Int32 = getpid()) {
    address = environment["NOTIFY_SOCKET"].flatMap { $0.hasPrefix("/") || $0.hasPrefix("@") ? $0 : nil }
    let isMeant = environment["WATCHDOG_PID"].map { Int32($0) == process } ?? true
    let microseconds = environment["WATCHDOG_USEC"].flatMap(Int64.init) ?? 0
    watchdogMicroseconds = isMeant && address != nil && microseconds > 0 ? microseconds : nil
  }

  package static let none = ServiceManager([:])

  /// Notifies that the gateway serves requests, with its settings in effect.
  package func ready(_ status: String) {
    send(["READY=1", "STATUS=\(status)"] + watchdog(watchdogMicroseconds))
  }

  /// Notifies that the gateway reloads its settings, or starts its next program: ``ready(_:)`` follows.
  ///
  /// - Parameter isRestart: true if the next program starts. The watchdog then has a longer timeout until it is ready,
  ///   because a start sends no heartbeats while it reads its data.
  package func reloading(_ status: String, isRestart: Bool = false) {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    send(
      ["RELOADING=1", "MONOTONIC_USEC=\(time.tv_sec * 1_000_000 + time.tv_nsec / 1000)", "STATUS=\(status)"]
        + watchdog(isRestart ? ServiceManager.startMicroseconds : nil))
  }

  /// Returns the line that sets the timeout of the watchdog, unless it is disabled.
  private func watchdog(_ microseconds: Int64?) -> [String] {
    guard watchdogMicroseconds != nil, let microseconds else { return [] }
    return ["WATCHDOG_USEC=\(microseconds)"]
  }

  /// Notifies that the gateway can't start.
  package func failed(_ status: String) { send(["STATUS=\(status)"]) }

  package func stopping() { send(["STOPPING=1", "STATUS=stopping"]) }

  func alive() { send(["WATCHDOG=1"]) }

  /// Sends lines, replacing line breaks within them. The send does not block: a service manager that does not receive
  /// the message misses it.
  private func send(_ lines: [String]) {
    guard let address else { return }
    let socket = Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
    guard socket >= 0 else { return }
    defer { close(socket) }
    var socketAddress = sockaddr_un()
    socketAddress.sun_family = sa_family_t(AF_UNIX)
    var name = Array(address.utf8)
    // An abstract name begins with a zero byte.
    if address.hasPrefix("@") { name[0] = 0 }
    guard name.count < MemoryLayout.size(ofValue: socketAddress.sun_path) else { return }
    unsafe withUnsafeMutableBytes(of: &socketAddress.sun_path) { unsafe $0.copyBytes(from: name) }
    let offset = MemoryLayout<sockaddr_un>.offset(of: \sockaddr_un.sun_path) ?? 0
    let size = socklen_t(offset + name.count + (address.hasPrefix("@") ? 0 : 1))
    let text = Array(lines.map { $0.replacing("\n", with: " ") }.joined(separator: "\n").utf8)
    unsafe withUnsafePointer(to: socketAddress) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        _ = unsafe sendto(socket, text, text.count, Int32(MSG_NOSIGNAL), $0, size)
      }
    }
  }
}
