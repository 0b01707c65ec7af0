import Foundation
import GatewayProtocol
import PushCore

/// The gateways known on this machine, and the current one: `contexts/` of the state folder.
struct Contexts {
  private let base: StateFolder

  init(_ base: StateFolder) { self.base = base }

  private var path: String { base.path + "/contexts" }
  private var currentPath: String { path + "/current" }

  /// The gateway of the state folder itself.
  var local: GatewayContext {
    let others = GatewayContext.Place.read(in: base)?.others(than: nil) ?? []
    return GatewayContext(name: GatewayContext.localName, folder: base, address: nil, others: others)
  }

  /// The remote gateways, sorted by name.
  var remote: [GatewayContext] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    return names.sorted().compactMap(context)
  }

  private func context(_ name: String) -> GatewayContext? {
    let folder = folder(name)
    guard let place = GatewayContext.Place.read(in: folder), let address = try? GatewayAddress(place.gateway) else {
      return nil
    }
    return GatewayContext(name: name, folder: folder, address: address, others: place.others(than: address))
  }

  /// Returns the folder with the data of a remote gateway.
  func folder(_ name: String) -> StateFolder { StateFolder(path + "/" + name) }

  /// Returns the gateway with a name; nil if there is none.
  subscript(name: String) -> GatewayContext? {
    name == GatewayContext.localName ? local : Contexts.isName(name) ? context(name) : nil
  }

  /// Returns the gateway at an address: if there are several, the current one, else the first. A gateway that was
  /// joined at the address precedes one that has reported the address as another gateway's.
  subscript(address: GatewayAddress) -> GatewayContext? {
    let all = remote
    let exact = all.filter { $0.address == address }
    let known = exact.isEmpty ? all.filter { $0.others.contains(address) } : exact
    let current = try? self.current.name
    return known.first { $0.name == current } ?? known.first
  }

  /// Returns the gateway at an address that is trusted through a CA. A gateway with another CA is a different gateway,
  /// which never receives the secrets of this one. Other gateways that a gateway reports count only if the same private
  /// CA has certified both.
  ///
  /// - Parameter authority: the CA certificate as PEM; nil if the system trusts the gateway.
  func known(at address: GatewayAddress, trustedBy authority: [UInt8]?) -> GatewayContext? {
    remote.first { context in
      guard context.address == address || authority != nil && context.others.contains(address) else { return false }
      let trusted = FileManager.default.contents(atPath: context.folder.trustPath)
      guard let authority else { return trusted == nil }
      return trusted.map { String(decoding: $0, as: UTF8.self).contains(String(decoding: authority, as: UTF8.self)) }
        ?? false
    }
  }

  /// The gateway that commands use if none is named.
  ///
  /// - Throws: ``CommandFailure`` if it no longer exists.
  var current: GatewayContext {
    get throws(CommandFailure) {
      guard let data = FileManager.default.contents(atPath: currentPath) else { return local }
      let name = String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
      guard let context = self[name] else {
        throw CommandFailure(
          .usage, "the default gateway \(name) was removed here: set another with `pushcli contexts use NAME`")
      }
      return context
    }
  }

  /// Returns a remote gateway and its address.
  ///
  /// - Parameter name: nil for the current one.
  /// - Throws: ``CommandFailure`` if there is none with that name, or if it is not a remote gateway.
  func remoteGateway(_ name: String?) throws(CommandFailure) -> (context: GatewayContext, address: GatewayAddress) {
    let context: GatewayContext
    if let name {
      guard let named = self[name] else { throw unknown(name) }
      context = named
    } else {
      context = try current
    }
    guard let address = context.address else {
      throw CommandFailure(
        .usage,
        "\(context.name) is the gateway of this state folder: expected a remote one, which `pushcli contexts` lists")
    }
    return (context, address)
  }

  /// Makes a gateway the current one.
  func use(_ name: String) throws(CommandFailure) {
    guard self[name] != nil else { throw unknown(name) }
    // Without a stored name the local gateway is the current one, also where the folder does not exist yet.
    if name == GatewayContext.localName {
      guard FileManager.default.fileExists(atPath: currentPath) else { return }
      return try write { try FileManager.default.removeItem(atPath: currentPath) }
    }
    try write { try PrivateFile.replace(currentPath, with: Array((name + "\n").utf8)) }
  }

  /// Stores a remote gateway under its existing name, the given name or a new one.
  ///
  /// - Parameter authority: the certificate to trust, as PEM; nil for the certificates that the system trusts.
  func add(_ address: GatewayAddress, as name: String?, authority: [UInt8]?) throws(CommandFailure) -> GatewayContext {
    if let known = known(at: address, trustedBy: authority) { return known }
    if let name, self[name] != nil {
      throw CommandFailure(.usage, "\(name) is another gateway here already: choose another --name")
    }
    return try add(name ?? freeName(for: address), address, authority: authority)
  }

  /// Writes the folder of a new context.
  func add(_ name: String, _ address: GatewayAddress, authority: [UInt8]?) throws(CommandFailure) -> GatewayContext {
    guard Contexts.isName(name) else {
      throw CommandFailure(
        .usage,
        "\"\(name)\" is not a name for a gateway: expected up to 64 letters, digits, dots and hyphens, not local")
    }
    let folder = folder(name)
    try write {
      try PrivateFile.createFolder(base.path)
      try PrivateFile.createFolder(path)
      try PrivateFile.createFolder(folder.path)
      if let authority {
        try PrivateFile.replace(folder.trustPath, with: authority)
      } else {
        try? FileManager.default.removeItem(atPath: folder.trustPath)
      }
      try GatewayContext.Place(gateway: address.description).save(in: folder)
    }
    return GatewayContext(name: name, folder: folder, address: address)
  }

  /// Makes a gateway trusted through the CAs of this system.
  ///
  /// - Returns: true if it was trusted through its own CA before.
  func trustSystem(_ context: GatewayContext) throws(CommandFailure) -> Bool {
    let stored = context.folder.trustPath
    guard context.isRemote, FileManager.default.fileExists(atPath: stored) else { return false }
    try write { try FileManager.default.removeItem(atPath: stored) }
    return true
  }

  /// Removes a gateway and the secrets of its devices.
  func remove(_ name: String) throws(CommandFailure) {
    guard name != GatewayContext.localName else {
      throw CommandFailure(.usage, "local is the gateway of this state folder, and stays")
    }
    guard let context = self[name] else { throw unknown(name) }
    let isCurrent = (try? current.name) == name
    try write {
      try FileManager.default.removeItem(atPath: context.folder.path)
      if isCurrent { try FileManager.default.removeItem(atPath: currentPath) }
    }
  }

  /// Returns an unused name: the host, with the port appended if another gateway has the host's name.
  func freeName(for address: GatewayAddress) -> String {
    let host = String(address.host.map { $0 == ":" ? "-" : $0 }.prefix(56))
    let names = [host, host + "-\(address.port)"] + (2...100).map { host + "-\(address.port)-\($0)" }
    return names.first { Contexts.isName($0) && self[$0] == nil } ?? "gateway-\(address.port)"
  }

  private func unknown(_ name: String) -> CommandFailure {
    let nearest = Suggestions.nearest(to: name, among: remote.map(\.name)).map { ", did you mean \($0)?" } ?? ""
    return CommandFailure(.suppressed, "no gateway is called \(name) here\(nearest): `pushcli contexts` lists them")
  }

  private func write(_ body: () throws -> Void) throws(CommandFailure) {
    do { try body() } catch {
      throw CommandFailure(.failed, "\(path) can't be written (\(error)): check the folder's permissions and the disk")
    }
  }

  /// Returns true if a text is a valid name for a context's folder.
  static func isName(_ text: String) -> Bool {
    (1...64).contains(text.utf8.count) && text != "current" && text != GatewayContext.localName
      && text.first != "."
      && text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
          true
        default: false
        }
      }
  }
}
