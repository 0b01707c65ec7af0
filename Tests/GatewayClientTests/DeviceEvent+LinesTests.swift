import GatewayProtocol
import PushPolicy
import Testing

@testable import GatewayClient

@Suite struct DeviceEventLinesTests {
  private let parser = JSONParser(maximumDepth: JSONParser.maximumLineDepth)

  private func events(_ lines: [String], after cursor: UInt64 = 0) -> [DeviceEvent] {
    DeviceEvent.events(
      in: Array(lines.map { $0 + "\n" }.joined().utf8), after: NumberedPosition(epoch: nil, seq: cursor), parser: parser
    )
  }

  private func push(_ seq: Int) -> String { #"{"type":"push","seq":\#(seq),"id":"x","topic":"t","payload":{}}"# }

  @Test func `pushes in a row are one event, as they came, without those that are known`() throws {
    let events = events([push(3), push(4), #"{"type":"retract","id":"x"}"#, push(4), push(0), push(5)], after: 3)
    try #require(events.count == 3)
    guard case .pushes(let first) = events[0], case .retract("x") = events[1], case .pushes(let second) = events[2]
    else {
      Issue.record("other events: \(events)")
      return
    }
    #expect(String(decoding: first.bytes, as: UTF8.self) == push(4) + "\n")
    #expect(second.lines.map(\.seq) == [0, 5])
  }

  @Test func `numbers of another numbering are of pushes that did not come`() throws {
    let welcome = #"{"type":"welcome","gateway":"g","epoch":"cell-1","gateways":["b:2"]}"#
    let events = events([push(3), welcome, push(2), push(2), push(4)], after: 3)
    guard case .served(let epoch, let gateways)? = events.dropLast().last, case .pushes(let batch)? = events.last else {
      Issue.record("other events: \(events)")
      return
    }
    #expect(epoch == NumberingEpoch("cell-1") && gateways == [GatewayAddress(host: "b", port: 2)])
    #expect(batch.lines.map(\.seq) == [2, 4])
  }

  @Test(arguments: ["", "words", "{}", #"{"type":"new"}"#, #"{"type":"new","seq":3"#, #"{"type":"gap"}"#])
  func `any other line is none`(_ line: String) {
    #expect(events([line]).isEmpty)
  }

  @Test(
    arguments: [
      (#"{"type":"push","seq":"7"}"#, 0), (#"{"type":"push","seq":7}"#, 7), (#"{"type":"push","id":"x"}"#, 0),
      (#"{"type":"push","seq":7,"id":5,"topic":"t"}"#, 7), (#"{"type":"push","seq":7,"id":"x","topic":"t""#, 7),
      (#"{"type":"push","seq":-7,"id":"#, 0), (#"{"type":"push","#, 0),
      (#"{"type":"push","seq":99999999999999999999,"id":"x","topic":"t"}"#, 0),
      (#"{"type":"push","seq":9007199254740993,"id":"x","topic":"t"}"#, 0),
      (#"{"type":"push","seq":7,"id":"x","topic":"t","payload":\#(String(repeating: "[", count: 1000))"#, 7),
    ] as [(String, UInt64)])
  func `a push that can't be read is told, once, with its number`(_ line: String, _ seq: UInt64) throws {
    let events = events([push(3), line, line, push(4)], after: 3)
    let unreadable = events.compactMap { if case .unreadable(let seq) = $0 { seq } else { nil } }
    #expect(unreadable == (seq == 0 ? [0, 0] : [seq]))
    #expect(events.allSatisfy { if case .unreadable = $0 { $0.wordsOfLoss != nil } else { $0.wordsOfLoss == nil } })
  }

  @Test func `the choices come with the welcome and when they change`() throws {
    let welcome = events([#"{"type":"welcome","gateway":"g","apps":[{"topic":"t"}],"preferences":{"badge":false}}"#])
    guard case .connected("g", 1) = welcome[0], case .apps(let apps) = welcome[1],
      case .preferences(let first) = welcome[2]
    else {
      Issue.record("other events: \(welcome)")
      return
    }
    #expect(apps == [DeviceApp(topic: "t", name: "t", icon: "")])
    #expect(!first.parts.badge && first.parts.alert)
    let change = events([#"{"type":"preferences","preferences":{"notifications":false}}"#])
    guard case .preferences(let second) = change[0] else {
      Issue.record("other events: \(change)")
      return
    }
    #expect(!second.notifications)
  }
}
