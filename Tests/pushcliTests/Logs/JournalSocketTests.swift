import Foundation
import Glibc
import Logging
import Testing

@testable import pushcli

@Suite struct JournalSocketTests {
  /// A socket in place of the journal's, and the messages that it received.
  final class Journal {
    let path = "/tmp/pushcli-journal-\(UUID().uuidString)"
    private let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)

    init() {
      var address = sockaddr_un()
      address.sun_family = sa_family_t(AF_UNIX)
      unsafe withUnsafeMutableBytes(of: &address.sun_path) { field in
        unsafe field.copyBytes(from: path.utf8)
      }
      let bound = unsafe withUnsafePointer(to: &address) { address in
        unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
        }
      }
      precondition(bound == 0)
    }

    deinit {
      close(descriptor)
      unsafe unlink(path)
    }

    func receive() -> [UInt8] {
      var bytes = [UInt8](repeating: 0, count: 1 << 17)
      let count = unsafe recv(descriptor, &bytes, bytes.count, 0)
      return Array(bytes.prefix(max(0, count)))
    }
  }

  @Test func `an entry is one datagram`() {
    let journal = Journal()
    let entry = LogEntry(
      at: 0, .warning, event: "disk-low", String(repeating: "é", count: 4000), fields: [.init(name: "a", value: "b")])
    let socket = JournalSocket(path: journal.path)
    for _ in 0..<2 {
      #expect(socket.send(entry.journal))
      #expect(journal.receive() == entry.journal)
    }
  }

  @Test(arguments: ["/there/is/none", String(repeating: "x", count: 200), ""])
  func `without a journal nobody takes it`(_ path: String) {
    #expect(!JournalSocket(path: path).send([1, 2, 3]))
  }
}
