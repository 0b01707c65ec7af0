import GatewayProtocol
import PushCore
import PushPolicy

/// Which broadcasts this device has: a gateway sends a stored one again until the device says that it has it.
struct BroadcastInbox {
  private var numbers: [ChannelID: UInt64] = [:]
  /// Those of which something came before ``numbers`` was full: when it is again, they are forgotten, and what a gateway
  /// sends again of one comes twice. An honest one has no such number of channels.
  private var formerNumbers: [ChannelID: UInt64] = [:]

  /// How many channels are remembered.
  var count: Int { numbers.count + formerNumbers.count }

  /// What is to be done with a line of the gateway.
  enum Verdict: Equatable {
    /// It is no broadcast, or one that is never stored.
    case other
    /// The device has it already.
    case known(acknowledgement: DeviceLine)
    case new(acknowledgement: DeviceLine)
  }

  /// Leaves out of a batch what the device has, and says what is to be acknowledged.
  mutating func take(_ batch: PushBatch, parser: JSONParser) -> (batch: PushBatch, acknowledgements: [DeviceLine]) {
    // Only what is in no mailbox may be a broadcast.
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

  /// Looks at a line, and remembers a broadcast that is new.
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
