import Foundation
import GatewayProtocol
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

  @Test func `the local one can be made the current one before there is any folder, and again`() throws {
    let folder = try TemporaryFolder()
    let none = Contexts(StateFolder(folder.path + "/none"))
    try none.use("local")
    #expect(!FileManager.default.fileExists(atPath: folder.path + "/none"))
    let contexts = Contexts(StateFolder(folder.path))
    _ = try contexts.add("work", address, authority: nil)
    try contexts.use("work")
    try contexts.use("local")
    #expect(try contexts.current.name == "local")
    try contexts.use("local")
  }

  @Test func `a remote one is expected by its name: an unknown name and the local one are different failures`() throws {
    let folder = try TemporaryFolder()
    let contexts = Contexts(StateFolder(folder.path))
    _ = try contexts.add("work", address, authority: nil)
    #expect(try contexts.remoteGateway("work").address == address)
    func failure(_ name: String?) -> CommandFailure? {
      do {
        _ = try contexts.remoteGateway(name)
        return nil
      } catch {
        return error
      }
    }
    #expect(failure("wokr")?.exit == .suppressed)
    #expect(failure("wokr")?.message.contains("did you mean work?") == true)
    #expect(failure("local")?.exit == .usage)
    #expect(failure(nil)?.message.contains("expected a remote one") == true)
  }

  @Test func `one that the system trusts has no authority of its own`() throws {
    let folder = try TemporaryFolder()
    let contexts = Contexts(StateFolder(folder.path))
    _ = try contexts.add("work", address, authority: Array("PEM".utf8))
    #expect(try contexts.add("work", address, authority: nil).trustPath == SystemTrust.path)
    #expect(contexts.local.trustPath == folder.path + "/ca.pem")
  }

  @Test func `one with a stored authority is trusted as the system does when this is asked for`() throws {
    let folder = try TemporaryFolder()
    let contexts = Contexts(StateFolder(folder.path))
    let context = try contexts.add("work", address, authority: Array("PEM".utf8))
    #expect(context.remedy?.contains("`pushcli contexts trust work`") == true)
    #expect(try contexts.trustSystem(context))
    #expect(context.trustPath == SystemTrust.path && context.remedy == nil)
    #expect(try !contexts.trustSystem(context))
    // The CA of the gateway that runs on the folder stays.
    _ = FileManager.default.createFile(atPath: folder.path + "/ca.pem", contents: Data("PEM".utf8))
    #expect(try !contexts.trustSystem(contexts.local))
    #expect(contexts.local.remedy == nil && contexts.local.trustPath == folder.path + "/ca.pem")
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

  @Test func `another authority at an address is another gateway, and gets nothing of the first`() throws {
    let folder = try TemporaryFolder()
    let contexts = Contexts(StateFolder(folder.path))
    let (ours, theirs) = (Array("OURS".utf8), Array("THEIRS".utf8))
    let first = try contexts.add(address, as: nil, authority: ours)
    #expect(try contexts.add(address, as: "ignored", authority: ours).name == first.name)
    let second = try contexts.add(address, as: nil, authority: theirs)
    #expect(second.name != first.name && contexts.remote.count == 2)
    #expect(FileManager.default.contents(atPath: first.folder.trustPath) == Data(ours))
    #expect(contexts.known(at: address, trustedBy: nil) == nil)
    #expect(throws: CommandFailure.self) { try contexts.add(address, as: first.name, authority: nil) }
    for context in [first, second] {
      try contexts.use(context.name)
      #expect(contexts[address]?.name == context.name)
    }
  }

  @Test func `one whose rollover goes on is known by either authority`() throws {
    let folder = try TemporaryFolder()
    let contexts = Contexts(StateFolder(folder.path))
    let context = try contexts.add(address, as: nil, authority: Array("OLD\n".utf8))
    try Data("OLD\nNEW\n".utf8).write(to: URL(fileURLWithPath: context.folder.trustPath))
    for authority in ["OLD\n", "NEW\n"] {
      #expect(contexts.known(at: address, trustedBy: Array(authority.utf8))?.name == context.name)
    }
  }

  @Test func `a gateway of a cell is known by each address that it was told of`() throws {
    let folder = try TemporaryFolder()
    let contexts = Contexts(StateFolder(folder.path))
    let (ours, second, third) = (
      Array("OURS".utf8), GatewayAddress(host: "b", port: 2), GatewayAddress(host: "c", port: 3)
    )
    let joined = try contexts.add(address, as: "cell", authority: ours)
    joined.remember([address, second, third])
    let found = try #require(contexts["cell"])
    #expect(found.address == address && found.others == [second, third])
    #expect(contexts[third]?.name == "cell")
    #expect(contexts.known(at: second, trustedBy: ours)?.name == "cell")
    // A server that the system trusts could claim to be any gateway.
    #expect(contexts.known(at: second, trustedBy: nil) == nil)
    #expect(contexts.known(at: second, trustedBy: Array("THEIRS".utf8)) == nil)
    // A context of its own for that address has precedence.
    _ = try contexts.add("other", second, authority: Array("THEIRS".utf8))
    #expect(contexts[second]?.name == "other" && contexts[third]?.name == "cell")
    found.remember([])
    #expect(contexts["cell"]?.others.isEmpty == true && contexts["cell"]?.address == address)
  }

  @Test func `several addresses mean the context that has one of them, from the first on`() throws {
    let folder = try TemporaryFolder()
    let contexts = Contexts(StateFolder(folder.path))
    let joined = try contexts.add(address, as: "cell", authority: Array("OURS".utf8))
    joined.remember([address, GatewayAddress(host: "b", port: 2)])
    let options = StateOptions(state: folder.path, gateway: "c:3,gateway.example:2197,c:3")
    let context = try options.context
    #expect(context.name == "cell" && context.address == GatewayAddress(host: "c", port: 3))
    #expect(context.others == [address, GatewayAddress(host: "b", port: 2)])
    #expect(try options.detours.isEmpty)
    let unknown = StateOptions(state: folder.path, gateway: "x:1,y:2")
    #expect(try unknown.context.name == "local" && unknown.detour == GatewayAddress(host: "x", port: 1))
    #expect(try unknown.detours.map(\.port) == [1, 2])
    for wrong in ["x:1,", ",x:1", "x:1,y", (1...65).map { "x:\($0)" }.joined(separator: ",")] {
      #expect(throws: CommandFailure.self) { try StateOptions(state: folder.path, gateway: wrong).context }
    }
  }

  @Test func `the gateway of this machine remembers the others of its cell, too`() throws {
    let folder = try TemporaryFolder()
    let contexts = Contexts(StateFolder(folder.path))
    contexts.local.remember([])
    #expect(!FileManager.default.fileExists(atPath: folder.path + "/gateway.json"))
    contexts.local.remember([GatewayAddress(host: "b", port: 2)])
    #expect(contexts.local.others == [GatewayAddress(host: "b", port: 2)] && !contexts.local.isRemote)
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
