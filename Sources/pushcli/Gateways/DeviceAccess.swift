import Foundation
import GatewayClient
import GatewayProtocol
import PushCore
import PushPolicy

/// How a command speaks of a device: as the device itself, where its gateway is elsewhere and its secret is here, else as
/// an administrator. Where the gateway of this machine does not run, and others of its cell are known, the device asks one
/// of those.
struct DeviceAccess {
  let name: String
  let admin: Admin
  /// Whether it is the device that asks.
  let isOwn: Bool
  /// The device's secret; nil where another machine or user has it.
  private let secret: String?
  /// The address that the command was given, or the name of a gateway.
  private let address: String?

  /// - Parameter name: nil: the only device that has its secret here.
  /// - Throws: ``CommandFailure`` where there are several, or none, or the gateway is elsewhere and not to be asked.
  init(_ name: String?, _ state: StateOptions) async throws {
    let context = try state.context
    address = state.gateway
    self.name = try name ?? DeviceAccess.only(in: context)
    let own = try Credentials.read(self.name, in: context.folder)
    secret = own?.secret
    if context.isRemote, let own {
      (admin, isOwn) = (try await Admin(context, as: own), true)
      return
    }
    do {
      (admin, isOwn) = (try await Admin(state), false)
    } catch let failure as CommandFailure where failure.exit == .unreachable {
      guard let own, let admin = try await Admin.elsewhere(state, as: own) else { throw failure }
      (self.admin, isOwn) = (admin, true)
    }
  }

  private static func only(in context: GatewayContext) throws(CommandFailure) -> String {
    let known = Credentials.names(in: context.folder)
    guard known.count == 1 else {
      let these = known.isEmpty ? "there is none here" : "there are \(known.joined(separator: ", "))"
      throw CommandFailure(.usage, "name the device with --device: \(these)")
    }
    return known[0]
  }

  /// The path of the device, for ``path(_:)``.
  private var base: String { isOwn ? "/v1/device" : "/admin/v1/devices/\(pathPart(name))" }

  /// What is known of the device.
  func record() async throws -> DeviceRecord { try await admin.get(base) }

  /// The choices of its person.
  func preferences() async throws -> Preferences { try await admin.get(base + "/preferences") }

  /// Changes choices of its person, and returns all of them.
  func change(_ request: PreferencesRequest) async throws -> Preferences {
    // Who finds the texts of a person is decided by the person's devices alone.
    if !isOwn, let secret, request.settings.contains(where: { $0.hasPrefix("log-text=") }) {
      return try await admin.post("/v1/device/preferences", request, secret: secret)
    }
    return try await admin.post(base + "/preferences", request)
  }

  /// Registers it for an app, unless it is.
  func register(_ topic: String) async throws {
    if isOwn {
      try await admin.put("/v1/device/apps/\(pathPart(topic))")
    } else {
      let _: RegistrationRecord = try await admin.post(
        base + "/registrations",
        RegistrationRequest(topic: topic, environment: await admin.environmentToRegister(at: address)))
    }
  }

  /// Subscribes it to a broadcast channel.
  func subscribe(to channel: String) async throws {
    if isOwn {
      try await admin.put("/v1/device/channels/\(pathPart(channel))")
    } else {
      let _: ChannelRecord = try await admin.post(
        "/admin/v1/channels/\(pathPart(channel))/subscriptions", ChannelSubscriptionRequest(devices: [name]))
    }
  }

  /// The list of apps: the gateway's, or those that the device is registered for.
  var appsPath: String { isOwn ? "/v1/device/apps" : "/admin/v1/apps" }

  /// Where its rows of the delivery log are read, with `device=` where that is to be said.
  var log: LogPath { isOwn ? .own : LogPath(path: LogPath.all.path, query: ["device=\(pathPart(name))"]) }
}

/// Where the delivery log is read: all of it by an administrator, a device's own rows by the device.
struct LogPath {
  let path: String
  /// What every query has.
  var query: [String] = []

  /// Whether it is an administrator's, for whom a device is to be named.
  var isAdministered: Bool { path == LogPath.all.path }

  static let all = LogPath(path: "/admin/v1/log")
  static let own = LogPath(path: "/v1/device/log")

  /// Connects to whoever may be asked for the log: an administrator where that is possible, unless it is for a device of
  /// this machine at a gateway elsewhere, which reads its own.
  ///
  /// - Parameter device: nil: any.
  static func connect(_ state: StateOptions, for device: String?) async throws -> (Admin, LogPath) {
    let context = try state.context
    let isOwn = try device.map { try Credentials.read($0, in: context.folder) != nil } ?? false
    guard context.isRemote, isOwn || !Admin.isPossible(at: context) else { return (try await Admin(state), .all) }
    guard device != nil || !Credentials.names(in: context.folder).isEmpty else { return (try await Admin(state), .all) }
    let access = try await DeviceAccess(device, state)
    return (access.admin, access.isOwn ? .own : .all)
  }

  /// Asks for the next rows with a request that waits for them. Where the gateway has too many of these and refuses (503), a
  /// second request asks for the rows that are there.
  ///
  /// - Parameter ask: makes a request, which waits or does not.
  static func next(_ ask: (_ waits: Bool) async throws -> LogPage) async throws -> (page: LogPage, isRefused: Bool) {
    do {
      return (try await ask(true), false)
    } catch let failure as CommandFailure where failure.status == 503 {
      return (try await ask(false), true)
    }
  }
}
