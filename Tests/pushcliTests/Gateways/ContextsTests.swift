import Foundation
import PushCore
import PushTesting
import Testing

@testable import pushcli

@Suite struct ContextsTests {
  private let address = GatewayAddress(host: "gateway.example", port: 2197)

  @Test func `without any, commands mean the gateway of the folder`() throws {
    let folder = try TemporaryFolder()
    let contexts = Contexts(StateFolder(folder.path))
    #expect(try contexts.current.name == "local" && !contexts.current.isRemote && contexts.remote.isEmpty)
    #expect(try contexts.current.folder.path == folder.path)
    #expect(!FileManager.default.fileExists(atPath: folder.path + "/contexts"))
  }

  @Test func `one that was added is found by name and address, and by nobody else's`() throws {
    let folder = try TemporaryFolder()
    let contexts = Contexts(StateFolder(folder.path))
    let added = try contexts.add("work", address, authority: Array("PEM".utf8))
    #expect(contexts["work"]?.address == address && contexts[address]?.name == "work" && contexts["home"] == nil)
    #expect(contexts[GatewayAddress(host: "gateway.example", port: 443)] == nil)
    #expect(added.trustPath == folder.path + "/contexts/work/ca.pem")
    #expect(try contexts.current.name == "local")
    try contexts.use("work")
    #expect(try contexts.current.name == "work")
    var status = stat()
    for path in ["/contexts", "/contexts/work", "/contexts/work/gateway.json"] {
      #expect(unsafe stat(folder.path + path, &status) == 0 && status.st_mode & 0o077 == 0, "\(path)")
    }
  }

  @Test func `one that the system trusts has no authority of its own`() throws {
    let folder = try TemporaryFolder()
    let contexts = Contexts(StateFolder(folder.path))
    _ = try contexts.add("work", address, authority: Array("PEM".utf8))
    #expect(try contexts.add("work", address, authority: nil).trustPath == GatewayContext.systemTrustPath)
    #expect(contexts.local.trustPath == folder.path + "/ca.pem")
  }

  @Test func `one that is forgotten is gone with its secrets, and no longer the current one`() throws {
    let folder = try TemporaryFolder()
    let contexts = Contexts(StateFolder(folder.path))
    _ = try contexts.add("work", address, authority: nil)
    try contexts.use("work")
    try contexts.remove("work")
    #expect(try contexts.current.name == "local" && contexts["work"] == nil)
    #expect(throws: CommandFailure.self) { try contexts.remove("work") }
    #expect(throws: CommandFailure.self) { try contexts.remove("local") }
    #expect(throws: CommandFailure.self) { try contexts.use("work") }
  }

  @Test func `a current one that is gone is not taken for the local one`() throws {
    let folder = try TemporaryFolder()
    let contexts = Contexts(StateFolder(folder.path))
    _ = try contexts.add("work", address, authority: nil)
    try contexts.use("work")
    try FileManager.default.removeItem(atPath: folder.path + "/contexts/work")
    #expect(throws: CommandFailure.self) { try contexts.current }
  }

  @Test(arguments: ["", ".", "..", "a/b", "current", "local", "a b", String(repeating: "x", count: 65), "é"])
  func `a name is that of a folder, and of nothing else`(_ name: String) throws {
    let folder = try TemporaryFolder()
    let contexts = Contexts(StateFolder(folder.path))
    #expect(throws: CommandFailure.self) { try contexts.add(name, address, authority: nil) }
    if name != "local" { #expect(contexts[name] == nil) }
  }

  @Test func `gateways of one host have names of their own`() throws {
    let folder = try TemporaryFolder()
    let contexts = Contexts(StateFolder(folder.path))
    #expect(contexts.freeName(for: address) == "gateway.example")
    _ = try contexts.add("gateway.example", address, authority: nil)
    #expect(contexts.freeName(for: GatewayAddress(host: "gateway.example", port: 1)) == "gateway.example-1")
    #expect(Contexts.isName(contexts.freeName(for: GatewayAddress(host: "2001:db8::1", port: 1))))
  }
}
