import GatewayProtocol
import PushCore
import PushPolicy

/// The broadcasts that this device has received: a gateway sends a stored one again until the device acknowledges it.
struct BroadcastInbox {
  private var numbers: [ChannelID: UInt64] = [:]
  /// The numbers of the channels before ``numbers`` was full. When it is full again, these are dropped, and a broadcast
  /// that the gateway sends again for one of them is shown twice. No honest gateway has that many channels.
  private var formerNumbers: [ChannelID: UInt64] = [:]

  /// The number of remembered channels.
  var count: Int { numbers.count + formerNumbers.count }

  /// The classification of a line of the gateway.
  enum Verdict: Equatable {
    /// The line is not a broadcast, or it is a broadcast that is not stored.
    case other
    /// The device already has the broadcast.
    case known(acknowledgement: DeviceLine)
    case new(acknowledgement: DeviceLine)
  }

  /// Removes known broadcasts from a batch, and returns the acknowledgements of all broadcasts in it.
  mutating func take(_ batch: PushBatch, parser: JSONParser) -> (batch: PushBatch, acknowledgements: [DeviceLine]) {
    // Only a push outside the mailbox may be a broadcast.
    guard batch.lines.contains(where: { $0.seq == 0 }) else { return (batch, []) }
    var (rest, acknowledgements) = (PushBatch(), [DeviceLine]())
    batch.forEachLine { seq, line in
      switch seq == 0 ? judge(Array(line), parser: parser) : .other {
      case .other: rest.append(line, seq: seq)
      case .known(let acknowledgement): acknowledgements.append(acknowledgement)
      case .new(let acknowledgement):
        rest.append(line, seq: seq)
        acknowledgements.append(acknowledgement)
      }
    }
    return (rest, acknowledgements)
  }

  /// Classifies a line, and remembers a new broadcast.
  mutating func judge(_ line: [UInt8], parser: JSONParser) -> Verdict {
    let found = try? parser.parse(line.span) { root -> (ChannelID, UInt64)? in
      guard root["type"]?.string == "push", let channel = root["channel"]?.string.flatMap({ ChannelID($0.utf8) }),
        let number = root["number"]?.integer, number > 0
      else { return nil }
      return (channel, UInt64(number))
    }
    guard let (channel, number) = found ?? nil else { return .other }
    let acknowledgement = DeviceLine.acknowledgeBroadcast(channel, number: number)
    guard number > numbers[channel] ?? formerNumbers[channel] ?? 0 else {
      return .known(acknowledgement: acknowledgement)
    }
    if numbers.count >= Limits.maximumRememberedChannels / 2, numbers[channel] == nil {
      (formerNumbers, numbers) = (numbers, [:])
    }
    numbers[channel] = number
    return .new(acknowledgement: acknowledgement)
  }
}
