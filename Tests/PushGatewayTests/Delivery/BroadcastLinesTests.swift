import PushPolicy
import PushTesting
import Testing

@testable import PushCore
@testable import PushGateway
@testable import PushStorage

@Suite struct BroadcastLinesTests {
  let lines = BroadcastLines()
  let app = App(id: 1, topic: "com.example.news", name: "News", icon: "N", policyMode: .enforce)

  func message(_ number: Int) -> BroadcastMessage {
    BroadcastMessage(
      channel: .random(), app: 1, number: UInt64(number), id: .number(number), uniqueID: .number(900), received: 0,
      expires: 0, priority: 10, payload: Array(#"{"aps":{}}"#.utf8))
  }

  func expected(_ message: BroadcastMessage, _ device: DeviceID, _ presentation: Presentation) -> [UInt8] {
    PushLine.push(
      MailboxEntry(seq: 0, push: message.push(to: device)), app: app, presentation: presentation, of: message) + [10]
  }

  @Test func `every stream gets the line of its message and of what it is shown`() {
    let messages = [message(1), message(2)]
    let presentations = [Presentation(badge: 1), Presentation(), Presentation(alert: .init(body: "Goal"))]
    let cases = messages.flatMap { message in presentations.map { (message, $0) } }
    // Each case follows each other case.
    for before in cases {
      for (message, presentation) in cases {
        _ = lines.line(of: before.0, before.0.push(to: 1), app: app, presentation: before.1)
        let line = lines.line(of: message, message.push(to: 2), app: app, presentation: presentation)
        #expect(line == expected(message, 2, presentation))
      }
    }
  }

  @Test func `streams that are shown the same share one line`() throws {
    let message = message(1)
    func start(_ device: DeviceID) -> Int {
      let line = lines.line(of: message, message.push(to: device), app: app, presentation: Presentation(badge: 3))
      return unsafe line.withUnsafeBytes { Int(bitPattern: $0.baseAddress) }
    }
    #expect(start(1) == start(2))
  }
}
