import Foundation
import PushTesting
import Testing

@testable import PushCore
@testable import PushGateway
@testable import PushStorage

/// The CA of a cluster in the state folder of a gateway.
@Suite struct SharedAuthorityTests {
  @Test func `a CA that can't be adopted is logged once, and adopted later`() async throws {
    let (log, lines) = (MemoryReplicationLog(), LimitLogTests.Lines())
    let folder = try TemporaryFolder()
    let stores = try ["first.sqlite", "second.sqlite"].map { try SQLiteStore(path: folder.file($0)) }
    _ = try await log.join(stores[0])
    let member = try await log.join(stores[1])
    let authority = SharedAuthority(SharedFiles(stores[1]), StateFolder(folder.path), logger: lines.logger)
    try await authority.share()
    await authority.tend()
    #expect(lines.all.isEmpty)

    // A folder in the place of the key prevents its replacement.
    let place = folder.file("ca.key")
    try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: false)
    let files = ["ca.pem": Array("certificate".utf8), "ca.key": Array("key".utf8)]
    try await SharedFiles(stores[0]).replace(files)
    try await member.catchUp()
    for _ in 0..<2 { await authority.tend() }
    #expect(lines.all == ["event=maintenance-failed part=authority"])
    try FileManager.default.removeItem(atPath: place)
    await authority.tend()
    #expect(lines.all.count == 1)
    for store in stores { try store.close() }
    #expect(StateFolder(folder.path).authorityFiles == files)
  }
}
