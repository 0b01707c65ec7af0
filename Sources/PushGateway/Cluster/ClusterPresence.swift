import PushCore
import PushPolicy
import PushStorage

/// The connected devices on all gateways of a cluster and their numbers of pending pushes, for display.
///
/// A gateway that does not answer in time counts as one without streams.
struct ClusterPresence: Sendable {
  let router: any PushRouter
  let conditions: DeviceConditions
  let liveChannels: LiveChannels
  let mailbox: any Mailbox
  var cluster: (any Cluster)?

  /// The volatile state of a device.
  struct OfDevice: Sendable, Equatable {
    /// The number of open streams.
    var streams = 0
    /// The state that it last reported, preferably to a gateway with an open stream of the device.
    var state = Policy.DeviceState()
    /// The number of pending pushes.
    var waiting = 0
  }

  /// The time that the other gateways may take to answer, while a user waits.
  private static let timeout = Duration.seconds(1)
  /// The maximum number of devices or channels in one request, whose response has to fit into one message.
  private static let sliceSize = 2_000

  // MARK: Devices

  /// Returns the state of devices on all gateways, in the order of `devices`.
  func of(_ devices: [DeviceID]) async -> [OfDevice] {
    var found = here(devices)
    guard let cluster, !devices.isEmpty else { return found }
    async let counts = mailbox.waitingCounts(of: devices)
    var indexes: [Int64: Int] = [:]
    for (index, device) in devices.enumerated() { indexes[device.row] = index }
    for answer in await ask(slices(of: devices), cluster).answers {
      for row in answer.devices {
        guard let index = indexes[row.device], row.streams > 0 else { continue }
        found[index].state = row.state
        found[index].streams += min(row.streams, Limits.maximumDeviceStreams)
      }
    }
    for (device, count) in await counts { indexes[device.row].map { found[$0].waiting = count } }
    return found
  }

  /// Returns the devices that have a stream on any gateway; nil if a gateway does not answer.
  func connected(of devices: Set<DeviceID>) async -> Set<DeviceID>? {
    var connected = devices.filter { router.count(of: $0) > 0 }
    guard let cluster else { return connected }
    let slices = slices(of: Array(devices))
    let (answers, isComplete) = await ask(slices, cluster)
    for answer in answers {
      for row in answer.devices where row.streams > 0 { connected.insert(DeviceID(row: row.device)) }
    }
    return isComplete ? connected : nil
  }

  private func slices(of devices: [DeviceID]) -> [Question] {
    stride(from: 0, to: devices.count, by: ClusterPresence.sliceSize).map {
      Question(devices: devices[$0..<min($0 + ClusterPresence.sliceSize, devices.count)].map(\.row), channels: [])
    }
  }

  /// Returns the state of devices on this gateway, in the order of `devices`.
  func here(_ devices: some Sequence<DeviceID>) -> [OfDevice] {
    devices.map {
      OfDevice(
        streams: router.count(of: $0), state: conditions.state(of: $0), waiting: mailbox.waitingCount(for: $0))
    }
  }

  // MARK: Channels

  /// Returns the numbers of streams of channels on all gateways, in the order of `channels`.
  func streams(of channels: [ChannelID]) async -> [Int] {
    var counts = channels.map(liveChannels.count)
    guard let cluster, !channels.isEmpty else { return counts }
    let slices = stride(from: 0, to: channels.count, by: ClusterPresence.sliceSize).map {
      Question(
        devices: [], channels: channels[$0..<min($0 + ClusterPresence.sliceSize, channels.count)].map(\.description))
    }
    var elsewhere: [String: Int] = [:]
    for answer in await ask(slices, cluster).answers {
      for (channel, count) in answer.channels { elsewhere[channel, default: 0] &+= max(0, min(count, 1 << 32)) }
    }
    for (index, channel) in channels.enumerated() { counts[index] &+= elsewhere[channel.description] ?? 0 }
    return counts
  }

  // MARK: The other gateways

  private static let name = "presence"

  /// The devices and channels whose streams another gateway is asked for.
  private struct Question: Codable, Sendable {
    var devices: [Int64]
    var channels: [String]
  }

  /// The devices and channels that have streams.
  private struct Answer: Codable, Sendable {
    struct Row: Codable {
      var device: Int64
      var streams: Int
      var isSilent: Bool?
      var focus: String?

      var state: Policy.DeviceState {
        var state = Policy.DeviceState()
        (state.isSilent, state.focus) = (isSilent ?? false, focus)
        return state
      }
    }

    var devices: [Row]
    var channels: [String: Int]
  }

  /// - Returns: the answers of the gateways; `isComplete` is true if all have answered.
  private func ask(
    _ questions: [Question], _ cluster: any Cluster
  ) async -> (answers: [Answer], isComplete: Bool) {
    await withTaskGroup(of: Answer?.self) { group in
      for gateway in cluster.others where gateway.process != nil {
        for question in questions {
          group.addTask {
            await cluster.ask(gateway, ClusterPresence.name, controlJSON(question), within: ClusterPresence.timeout)
              .flatMap { try? decodeJSON(from: $0) }
          }
        }
      }
      return await group.reduce(into: ([], true)) { all, answer in
        if let answer { all.answers.append(answer) } else { all.isComplete = false }
      }
    }
  }

  /// Registers the handler for requests of other gateways.
  func join(_ cluster: any Cluster) throws {
    try cluster.answer(ClusterPresence.name) { body in
      guard let question = try? decodeJSON(Question.self, from: body) else { return [] }
      return controlJSON(answer(question))
    }
  }

  private func answer(_ question: Question) -> Answer {
    let devices = question.devices.prefix(ClusterPresence.sliceSize).map(DeviceID.init(row:))
    let rows = zip(devices, here(devices)).lazy.filter { $1.streams > 0 }.map { device, found in
      Answer.Row(
        device: device.row, streams: found.streams, isSilent: found.state.isSilent ? true : nil,
        focus: found.state.focus)
    }
    let channels = question.channels.prefix(ClusterPresence.sliceSize).compactMap { ChannelID($0.utf8) }
    let counts = channels.map { ($0.description, liveChannels.count(of: $0)) }.filter { $0.1 > 0 }
    return Answer(devices: Array(rows), channels: Dictionary(counts) { first, _ in first })
  }
}
