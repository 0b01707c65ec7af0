import GatewayProtocol
import PushCore
import PushPolicy
import Testing

@testable import GatewayClient

@Suite struct BroadcastInboxTests {
  private func channel(_ number: UInt8) -> ChannelID {
    ChannelID(bytes: [UInt8](repeating: number, count: ChannelID.size))!
  }

  private func line(_ channel: ChannelID, _ number: Int) -> [UInt8] {
    Array(#"{"type":"push","seq":0,"channel":"\#(channel)","number":\#(number),"payload":{}}"#.utf8)
  }

  @Test func `a stored broadcast is new once, and acknowledged each time`() {
    var inbox = BroadcastInbox()
    let parser = JSONParser()
    let (a, b) = (channel(1), channel(2))
    func acknowledgement(_ channel: ChannelID, _ number: UInt64) -> DeviceLine {
      .acknowledgeBroadcast(channel, number: number)
    }
    #expect(inbox.judge(line(a, 2), parser: parser) == .new(acknowledgement: acknowledgement(a, 2)))
    #expect(inbox.judge(line(a, 2), parser: parser) == .known(acknowledgement: acknowledgement(a, 2)))
    #expect(inbox.judge(line(b, 1), parser: parser) == .new(acknowledgement: acknowledgement(b, 1)))
    #expect(inbox.judge(line(a, 3), parser: parser) == .new(acknowledgement: acknowledgement(a, 3)))
  }

  /// The limit protects against a hostile gateway that invents channels.
  @Test func `no more channels are remembered than there may be, and the latest are`() {
    var inbox = BroadcastInbox()
    let parser = JSONParser()
    func channel(_ number: Int) -> ChannelID {
      ChannelID(bytes: (0..<ChannelID.size).map { UInt8(truncatingIfNeeded: $0 < 8 ? number >> (8 * $0) : 0) })!
    }
    let count = 2 * Limits.maximumRememberedChannels
    for number in 0..<count { _ = inbox.judge(line(channel(number), 1), parser: parser) }
    #expect(inbox.count <= Limits.maximumRememberedChannels)
    for number in (count - Limits.maximumRememberedChannels / 2)..<count {
      guard case .known = inbox.judge(line(channel(number), 1), parser: parser) else {
        Issue.record("\(number) of \(count) is forgotten")
        return
      }
    }
  }

  @Test(arguments: [
    #"{"type":"push","seq":7,"payload":{"channel":"a","number":1}}"#, #"{"type":"caught-up","seq":7}"#, "nonsense",
    #"{"type":"push","seq":0,"channel":"AQEBAQEBAQEBAQEBAQEBAQ==","number":0,"payload":{}}"#,
    #"{"type":"push","seq":0,"channel":"a","number":1,"payload":{}}"#,
  ])
  func `everything else is shown as it comes`(_ line: String) {
    var inbox = BroadcastInbox()
    #expect(inbox.judge(Array(line.utf8), parser: JSONParser()) == .other)
  }
}
