import Foundation
import GatewayClient
import GatewayProtocol
import PushCore
import PushPolicy

/// Gives a command access to a device: as the device itself if its gateway is remote and its secret is on this machine,
/// else as an administrator. If the gateway of this machine does not run, the device asks another gateway of its
/// cluster.
struct DeviceAccess {
  let name: String
  let admin: Admin
  /// True if the requests are made as the device.
  let isOwn: Bool
  /// The device's secret; nil if another machine or user has it.
  private let secret: String?
  /// The address or the name of the gateway, as given to the command.
  private let address: String?

  /// - Parameter name: nil for the only device that has its secret here.
  /// - Throws: ``CommandFailure`` if there are several such devices or none, or if the gateway is remote and can't be
  ///   asked.
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

  private var base: String { isOwn ? "/v1/device" : AdminPath.device(name) }

  func record() async throws -> DeviceRecord { try await admin.get(base) }

  func preferences() async throws -> Preferences { try await admin.get(base + "/preferences") }

  /// Changes preferences of its user and returns all of them.
  func change(_ request: PreferencesRequest) async throws -> Preferences {
    // Only the user's own devices may change the access to the user's texts.
    if !isOwn, let secret, request.settings.contains(where: { $0.hasPrefix("log-text=") }) {
      return try await admin.post("/v1/device/preferences", request, secret: secret)
    }
    return try await admin.post(base + "/preferences", request)
  }

  /// Registers the device for an app, unless it is registered.
  func register(_ topic: String) async throws {
    if isOwn {
      try await admin.put("/v1/device/apps/\(pathPart(topic))")
    } else {
      _ = try await admin.register(
        base + "/registrations", RegistrationRequest(topic: topic, environment: nil), at: address)
    }
  }

  /// Subscribes the device to a broadcast channel.
  func subscribe(to channel: String) async throws {
    if isOwn {
      try await admin.put("/v1/device/channels/\(pathPart(channel))")
    } else {
      let _: ChannelRecord = try await admin.post(
        AdminPath.channelSubscriptions(channel), ChannelSubscriptionRequest(devices: [name]))
    }
  }

  /// The path of the list of apps: all apps of the gateway, or the registered apps of the device.
  var appsPath: String { isOwn ? "/v1/device/apps" : AdminPath.apps() }

  /// Returns the failure for an app that is not in the list of ``appsPath``.
  func unknownApp(_ topic: String) -> CommandFailure {
    CommandFailure(
      .suppressed,
      isOwn
        ? "\(name) is not registered for \(topic): `pushcli subscribe --app \(topic)` registers it"
        : "there is no app \(topic): `pushcli apps` shows them")
  }

  /// The path of its rows in the delivery log, with `device=` if the path requires it.
  var log: LogPath { isOwn ? .own : LogPath(path: LogPath.all.path, query: ["device=\(pathPart(name))"]) }
}

/// The path of the delivery log: the whole log for an administrator, its own rows for a device.
struct LogPath {
  let path: String
  /// The parts common to all queries.
  var query: [String] = []

  /// True for the administrator's log, whose queries name the device.
  var isAdministered: Bool { path == LogPath.all.path }

  static let all = LogPath(path: AdminPath.log())
  static let own = LogPath(path: "/v1/device/log")

  /// Connects for reading the log: as an administrator if possible. For a device of this machine at a remote gateway,
  /// it connects as that device, which reads its own rows.
  ///
  /// - Parameter device: nil for any device.
  static func connect(_ state: StateOptions, for device: String?) async throws -> (Admin, LogPath) {
    let context = try state.context
    let isOwn = try device.map { try Credentials.read($0, in: context.folder) != nil } ?? false
    guard context.isRemote, isOwn || !Admin.isPossible(at: context) else { return (try await Admin(state), .all) }
    guard device != nil || !Credentials.names(in: context.folder).isEmpty else { return (try await Admin(state), .all) }
    let access = try await DeviceAccess(device, state)
    return (access.admin, access.isOwn ? .own : .all)
  }

  /// Returns the newest rows, oldest first, and the position after which later rows follow.
  func newest(
    _ search: [String], atMost count: Int, _ admin: Admin, _ unanswered: inout UnansweredGateways
  ) async throws -> (rows: [LogRecord], after: String?) {
    var pages: [LogRows] = []
    var (left, before) = (count, "")
    while left > 0 {
      let size = min(left, Limits.maximumLogPage)
      let values = query + search + ["limit=\(size)"]
      let answer: LogRows = try await admin.get(path + "?" + values.joined(separator: "&") + before)
      unanswered.report(answer.cluster?.unanswered)
      pages.append(answer)
      left -= answer.rows.count
      guard answer.rows.count == size, let next = answer.before else { break }
      before = "&before=\(pathPart(next))"
    }
    return (pages.reversed().flatMap(\.rows), pages.first?.after)
  }

  /// Requests the next rows and waits for them. If the gateway refuses because it has too many such requests (503), a
  /// second request gets the existing rows.
  ///
  /// - Parameter ask: makes a request; its argument is true if the gateway is to wait for rows.
  static func next(_ ask: (_ waits: Bool) async throws -> LogPage) async throws -> (page: LogPage, isRefused: Bool) {
    do {
      return (try await ask(true), false)
    } catch let failure as CommandFailure where failure.status == 503 {
      return (try await ask(false), true)
    }
  }
}
