import ArgumentParser
import Foundation
import GatewayProtocol
import PushPolicy

/// `pushcli channels`: broadcast channels and their subscriptions.
struct Channels: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "channels", abstract: "Broadcast channels: one message to all devices that subscribe.",
    discussion: """
      Senders can also create channels through Apple's channel management API; docs/send/broadcasts.md has both.

      Examples:
        pushcli channels create com.example.news --store
        pushcli channels subscribe 3pCzY5mgVQJ1bQ8WAm0LQQ== me
        pushcli send --channel 3pCzY5mgVQJ1bQ8WAm0LQQ== \\
          --topic com.example.news state.json
        pushcli channels share 3pCzY5mgVQJ1bQ8WAm0LQQ== --host gateway.example
      """,
    subcommands: [
      List.self, Create.self, Delete.self, Subscribe.self, Unsubscribe.self, Enable.self, Disable.self, Share.self,
      Shares.self, Unshare.self,
    ],
    defaultSubcommand: List.self)

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list", abstract: "List channels.",
      discussion: "Example:\n  pushcli channels list --app com.example.news")
    @Option(help: "Only this app's.", completion: CompletionCandidates.apps) var app: String?
    @Option(help: "Only channels that this device subscribes to.", completion: CompletionCandidates.devices) var device:
      String?
    @OptionGroup var part: ListOptions
    @OptionGroup var options: AdminOptions

    func validate() throws {
      if app != nil, device != nil { throw ValidationError("--app or --device, not both") }
    }

    func run() async throws {
      let path =
        device.map { AdminPath.deviceChannels($0) }
        ?? AdminPath.channels() + (app.map { "?app=\(pathPart($0))" } ?? "")
      try await options.admin.printList(
        path, part, options, name: "id",
        header: ["CHANNEL", "APP", "ENVIRONMENT", "STORES", "SUBSCRIBED", "CONNECTED"]
      ) { row in
        [
          row["id"]?.string ?? "", row["topic"]?.string ?? "", row["environment"]?.string ?? "",
          row["message_storage_policy"]?.integer == 1 ? "last message" : "nothing",
          String(row["subscriptions"]?.integer ?? 0), String(row["connected"]?.integer ?? 0),
        ]
      }
    }
  }

  struct Create: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "create", abstract: "Create a channel; prints its id.",
      discussion: "Example:\n  pushcli channels create com.example.news --store")
    @Argument(help: "The app's bundle id.", completion: CompletionCandidates.apps) var app: String
    @Flag(help: "Keep the most recent message for devices that are not connected.") var store = false
    @Option(help: "development or production. (the gateway's)", completion: CompletionCandidates.environments)
    var environment: String?
    @Option(help: "How many to create, up to 10000.") var count = 1
    @OptionGroup var options: AdminOptions

    func validate() throws {
      try OptionValue.check(environment, "--environment", OptionValue.environments)
      try OptionValue.check(count, "--count", 1...10_000)
    }

    func run() async throws {
      let made: [ChannelRecord] = try await options.admin.post(
        AdminPath.channels(),
        ChannelRequest(topic: app, environment: environment, storagePolicy: store ? 1 : 0, count: count))
      if options.json { return Output.json(lines: made) }
      for channel in made { Output.data(channel.id) }
    }
  }

  struct Delete: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "delete",
      abstract: "Delete a channel with its stored message, subscriptions and links. It can't be undone.",
      discussion: "Example:\n  pushcli channels delete 3pCzY5mgVQJ1bQ8WAm0LQQ==")
    @Argument(help: "The channel's id.", completion: CompletionCandidates.channels) var channel: String
    @OptionGroup var options: AdminOptions

    func run() async throws {
      try await options.admin.delete(AdminPath.channel(channel))
      options.print(["deleted": channel], words: "deleted \(channel)")
    }
  }

  struct Subscribe: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "subscribe", abstract: "Subscribe devices to a channel of an app that they are registered for.",
      discussion: "Example:\n  pushcli channels subscribe 3pCzY5mgVQJ1bQ8WAm0LQQ== me tablet")
    @Argument(help: "The channel's id.", completion: CompletionCandidates.channels) var channel: String
    @Argument(help: "The devices' names.", completion: CompletionCandidates.devices) var devices: [String] = []
    @Option(help: "All devices whose names begin with this and a hyphen.") var batch: String?
    @OptionGroup var options: AdminOptions

    func validate() throws {
      if devices.isEmpty, batch == nil { throw ValidationError("name devices, or a --batch") }
    }

    func run() async throws {
      let record: ChannelRecord = try await options.admin.post(
        AdminPath.channelSubscriptions(channel),
        ChannelSubscriptionRequest(devices: devices, batch: batch))
      if options.json { return Output.json(record) }
      let subscribe = record.subscriptions == 1 ? "1 device subscribes" : "\(record.subscriptions) devices subscribe"
      Output.words("\(subscribe) to \(record.id)")
    }
  }

  struct Unsubscribe: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "unsubscribe", abstract: "End a device's subscription to a channel.",
      discussion: "Example:\n  pushcli channels unsubscribe 3pCzY5mgVQJ1bQ8WAm0LQQ== me")
    @Argument(help: "The channel's id.", completion: CompletionCandidates.channels) var channel: String
    @Argument(help: "The device's name.", completion: CompletionCandidates.devices) var device: String
    @OptionGroup var options: AdminOptions

    func run() async throws {
      try await options.admin.delete(AdminPath.channelSubscription(channel, device))
      options.print(
        ["unsubscribed": device, "channel": channel], words: "\(device) no longer subscribes to \(channel)")
    }
  }

  struct Enable: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "enable", abstract: "Allow broadcasts of an app (the default for new apps).",
      discussion: "Example:\n  pushcli channels enable com.example.news")
    @Argument(help: "The app's bundle id.", completion: CompletionCandidates.apps) var app: String
    @OptionGroup var state: StateOptions

    func run() async throws { try await Channels.set(true, app, state) }
  }

  struct Disable: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "disable",
      abstract: "Forbid broadcasts of an app. All its channels are deleted; it can't be undone.",
      discussion: "Example:\n  pushcli channels disable com.example.news")
    @Argument(help: "The app's bundle id.", completion: CompletionCandidates.apps) var app: String
    @OptionGroup var state: StateOptions

    func run() async throws { try await Channels.set(false, app, state) }
  }

  private static func set(_ isOn: Bool, _ app: String, _ state: StateOptions) async throws {
    let _: BroadcastFeature = try await Admin(state).post(
      AdminPath.channelFeatures(), BroadcastFeature(topic: app, isOn: isOn))
    Output.words("\(app) may \(isOn ? "" : "not ")broadcast")
  }
}
