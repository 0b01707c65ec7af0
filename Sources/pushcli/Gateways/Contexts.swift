import Foundation
import GatewayProtocol
import PushCore

/// The gateways that this machine knows, and which of them commands mean: `contexts/` of the state folder.
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

  /// Those elsewhere, in the order of their names.
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

  /// Where what is known of a gateway elsewhere is kept.
  func folder(_ name: String) -> StateFolder { StateFolder(path + "/" + name) }

  /// The one with a name; nil when there is none.
  subscript(name: String) -> GatewayContext? {
    name == GatewayContext.localName ? local : Contexts.isName(name) ? context(name) : nil
  }

  /// The one at an address: of several the current one, else the first. One that was joined at the address comes before
  /// one that has told of it.
  subscript(address: GatewayAddress) -> GatewayContext? {
    let all = remote
    let exact = all.filter { $0.address == address }
    let known = exact.isEmpty ? all.filter { $0.others.contains(address) } : exact
    let current = try? self.current.name
    return known.first { $0.name == current } ?? known.first
  }

  /// The one at an address that is trusted by an authority. One with another authority is another gateway, which is never
  /// sent what belongs to this one. What a gateway tells of others counts where one private authority has certified both.
  ///
  /// - Parameter authority: as PEM; nil: the system trusts it.
  func known(at address: GatewayAddress, trustedBy authority: [UInt8]?) -> GatewayContext? {
    remote.first { context in
      guard context.address == address || authority != nil && context.others.contains(address) else { return false }
      let trusted = FileManager.default.contents(atPath: context.folder.trustPath)
      guard let authority else { return trusted == nil }
      return trusted.map { String(decoding: $0, as: UTF8.self).contains(String(decoding: authority, as: UTF8.self)) }
        ?? false
    }
  }

  /// The one that commands mean where none is named.
  ///
  /// - Throws: ``CommandFailure`` when it is no longer there.
  var current: GatewayContext {
    get throws(CommandFailure) {
      guard let data = FileManager.default.contents(atPath: currentPath) else { return local }
      let name = String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
      guard let context = self[name] else {
        throw CommandFailure(
          .usage, "the current gateway \(name) is no longer known here: `pushcli contexts use NAME` says which one is")
      }
      return context
    }
  }

  /// Has commands mean this one from now on.
  func use(_ name: String) throws(CommandFailure) {
    guard self[name] != nil else { throw unknown(name) }
    try write { try PrivateFile.replace(currentPath, with: Array((name + "\n").utf8)) }
  }

  /// Keeps what is known of a gateway elsewhere, under the name that it has, a given or a new one.
  ///
  /// - Parameter authority: the certificate to trust, as PEM; nil: those that the system trusts.
  func add(_ address: GatewayAddress, as name: String?, authority: [UInt8]?) throws(CommandFailure) -> GatewayContext {
    if let known = known(at: address, trustedBy: authority) { return known }
    if let name, self[name] != nil {
      throw CommandFailure(.usage, "\(name) is another gateway here already: choose another --name")
    }
    return try add(name ?? freeName(for: address), address, authority: authority)
  }

  /// Writes it.
  func add(_ name: String, _ address: GatewayAddress, authority: [UInt8]?) throws(CommandFailure) -> GatewayContext {
    guard Contexts.isName(name) else {
      throw CommandFailure(
        .usage, "\"\(name)\" is no name for a gateway: expected up to 64 letters, digits, dots and hyphens, not local")
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

  /// Has one be trusted by the CAs of this system.
  ///
  /// - Returns: whether a CA of its own was trusted before.
  func trustSystem(_ context: GatewayContext) throws(CommandFailure) -> Bool {
    let stored = context.folder.trustPath
    guard context.isRemote, FileManager.default.fileExists(atPath: stored) else { return false }
    try write { try FileManager.default.removeItem(atPath: stored) }
    return true
  }

  /// Forgets one, with the secrets of its devices.
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

  /// A name that no other gateway has: the host's, and with its port where another one of the host is known.
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

  /// Whether a text can be the name of a folder of ours.
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
