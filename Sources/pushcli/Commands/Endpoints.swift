import ArgumentParser
import Foundation
import GatewayClient
import GatewayProtocol
import PushCore

/// `pushcli endpoints`: addresses of a device for senders of Web Push.
struct Endpoints: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "endpoints", abstract: "Web Push endpoints: addresses of a device for any Web Push library.",
    discussion: """
      An endpoint is a Web Push subscription (RFC 8030, 8291, 8292) of a device of this machine. Its senders encrypt \
      messages for the device; the gateway can't read them. The keys stay in the state folder.

      Examples:
        pushcli endpoints add blog --app com.example.news
        pushcli endpoints
        pushcli endpoints remove blog
      """,
    subcommands: [List.self, Add.self, Remove.self], defaultSubcommand: List.self)

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list", abstract: "List the endpoints of a device with their apps, addresses and senders.",
      discussion: "Example:\n  pushcli endpoints list --device phone")
    @Option(help: deviceHelp, completion: CompletionCandidates.devices) var device: String?
    @OptionGroup var options: AdminOptions

    func run() async throws {
      let access = try await EndpointAccess(device, options)
      let rows: [EndpointRecord] = try await access.admin.get(EndpointAccess.path, secret: access.secret)
      let keys = access.keys
      options.print(lines: rows, ["ENDPOINT", "APP", "ORIGIN", "SENDER", "KEYS"]) { row in
        [
          row.name, row.app, row.origin, row.vapid ?? "any",
          keys.contains { $0.keys.name == row.name } ? "here" : "not on this machine",
        ]
      }
    }
  }

  struct Add: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "add", abstract: "Add an endpoint; prints the subscription for a Web Push library, as JSON.",
      discussion: """
        The device is registered for the app first, if it is not. Every program with the subscription can send up to \
        \(Limits.endpointRate) messages in a minute; with --vapid, only the sender with the private key.

        Examples:
          pushcli endpoints add blog --app com.example.news
          pushcli endpoints add shop --app com.example.shop --device phone \\
            --vapid BA1Hxzyi1RUM1b5wjxsn7nGx…
        """)
    @Argument(help: "Its name, unique for the device.") var name: String
    @Option(help: "The app's topic.", completion: CompletionCandidates.apps) var app: String
    @Option(help: "The public key of the only sender, in base64url: its applicationServerKey. (any sender)")
    var vapid: String?
    @Option(help: deviceHelp, completion: CompletionCandidates.devices) var device: String?
    @Option(help: "The address of the gateway for senders, as https://HOST:PORT. (its address for devices)")
    var origin: String?
    @OptionGroup var options: AdminOptions

    func run() async throws {
      let access = try await EndpointAccess(device, options)
      try await access.device.register(app)
      let request = EndpointRequest(name: name, app: app, origin: try await address(access.admin), vapid: vapid)
      let made: CreatedEndpoint = try await access.admin.post(EndpointAccess.path, request, secret: access.secret)
      let keys: WebPushKeys
      do {
        keys = try WebPushKeys(name: name, app: app, url: made.url)
        try keys.save(WebPushEnvelope.tag(of: made.id), of: access.name, in: access.folder)
      } catch {
        // Messages to an endpoint without keys could not be decrypted.
        try? await access.admin.delete(EndpointAccess.path(name), secret: access.secret)
        throw error
      }
      Output.json(
        Subscription(
          endpoint: made.url, keys: Subscription.Keys(p256dh: try keys.publicKey, auth: keys.auth)))
      if !options.json { Output.words("added endpoint \(name) of \(access.name) for \(app)") }
    }

    private func address(_ admin: Admin) async throws -> String {
      if let origin { return origin }
      let context = try options.state.context
      if let address = context.address { return "https://\(address)" }
      let place = try await InvitationPlace(nil, at: context, admin)
      return "https://\(place.address)"
    }
  }

  struct Remove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "remove", abstract: "Remove an endpoint and its keys: its senders get 410 from the next message on.",
      discussion: "Example:\n  pushcli endpoints remove blog")
    @Argument(help: "The endpoint.") var name: String
    @Option(help: deviceHelp, completion: CompletionCandidates.devices) var device: String?
    @OptionGroup var options: AdminOptions

    func run() async throws {
      let access = try await EndpointAccess(device, options)
      try await access.admin.delete(EndpointAccess.path(name), secret: access.secret)
      for endpoint in access.keys where endpoint.keys.name == name {
        WebPushKeys.remove(endpoint.tag, of: access.name, in: access.folder)
      }
      options.print(["removed": name], words: "removed endpoint \(name)")
    }
  }
}

private let deviceHelp: ArgumentHelp = "The device; its secret must be on this machine. (the only one here)"

/// A subscription as browsers and Web Push libraries write it.
private struct Subscription: Encodable {
  struct Keys: Encodable {
    var p256dh, auth: String
  }

  var endpoint: String
  var keys: Keys
}

/// The access to the endpoints of a device, with its secret: the keys of the endpoints are on the same machine.
private struct EndpointAccess {
  let device: DeviceAccess
  let secret: String
  let folder: StateFolder

  static let path = "/v1/device/endpoints"
  static func path(_ name: String) -> String { "\(path)/\(pathPart(name))" }

  var name: String { device.name }
  var admin: Admin { device.admin }
  var keys: [(tag: String, keys: WebPushKeys)] { WebPushKeys.all(of: name, in: folder) }

  init(_ name: String?, _ options: AdminOptions) async throws {
    device = try await DeviceAccess(name, options.state)
    folder = try options.state.folder
    guard let credentials = try Credentials.read(device.name, in: folder) else {
      throw CommandFailure(
        .suppressed, "the secret of \(device.name) is not on this machine: run this command where the device is")
    }
    secret = credentials.secret
  }
}
