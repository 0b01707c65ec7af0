import Foundation
import Glibc

/// The service manager that started the process, as far as it wants to be told: `sd_notify(3)`, without its library.
package struct ServiceManager: Sendable {
  /// A datagram socket: a path, or a name behind `@`; nil: nobody asks.
  private let address: String?
  /// How often it wants a sign of life; nil: never.
  package let watchdogTime: Duration?

  /// - Parameter environment: `NOTIFY_SOCKET`, `WATCHDOG_USEC` and `WATCHDOG_PID` of it.
  package init(_ environment: [String: String], process: Int32 = getpid()) {
    address = environment["NOTIFY_SOCKET"].flatMap { $0.hasPrefix("/") || $0.hasPrefix("@") ? $0 : nil }
    let isMeant = environment["WATCHDOG_PID"].map { Int32($0) == process } ?? true
    let microseconds = environment["WATCHDOG_USEC"].flatMap(Int64.init) ?? 0
    watchdogTime = isMeant && address != nil && microseconds > 0 ? .microseconds(microseconds) : nil
  }

  /// Nobody.
  package static let none = ServiceManager([:])

  /// It serves, with its settings as they are.
  package func ready(_ status: String) { send(["READY=1", "STATUS=\(status)"]) }

  /// It reads its settings anew, or makes way for its next program: ``ready(_:)`` follows.
  package func reloading(_ status: String) {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    send(["RELOADING=1", "MONOTONIC_USEC=\(time.tv_sec * 1_000_000 + time.tv_nsec / 1000)", "STATUS=\(status)"])
  }

  /// It can't start.
  package func failed(_ status: String) { send(["STATUS=\(status)"]) }

  package func stopping() { send(["STOPPING=1", "STATUS=stopping"]) }

  /// A sign of life.
  func alive() { send(["WATCHDOG=1"]) }

  /// A line of a status has no line break. Whoever does not listen misses it: a gateway does not wait for that.
  private func send(_ lines: [String]) {
    guard let address else { return }
    let socket = Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
    guard socket >= 0 else { return }
    defer { close(socket) }
    var place = sockaddr_un()
    place.sun_family = sa_family_t(AF_UNIX)
    var name = Array(address.utf8)
    // An abstract name begins with a byte 0.
    if address.hasPrefix("@") { name[0] = 0 }
    guard name.count < MemoryLayout.size(ofValue: place.sun_path) else { return }
    unsafe withUnsafeMutableBytes(of: &place.sun_path) { unsafe $0.copyBytes(from: name) }
    let offset = MemoryLayout<sockaddr_un>.offset(of: \sockaddr_un.sun_path) ?? 0
    let size = socklen_t(offset + name.count + (address.hasPrefix("@") ? 0 : 1))
    let text = Array(lines.map { $0.replacing("\n", with: " ") }.joined(separator: "\n").utf8)
    unsafe withUnsafePointer(to: place) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        _ = unsafe sendto(socket, text, text.count, Int32(MSG_NOSIGNAL), $0, size)
      }
    }
  }
}
