import PushGatewayTesting
import XCTest

/// The same with XCTest.
final class SenderXCTests: XCTestCase {
  func testPushIsPresented() async throws {
    let server = try await PushGatewayServer.shared
    let device = try await server.device(topic: "com.example.train")
    let sender = Sender(url: server.apnsURL, caFile: server.caFile)
    let isAccepted = try await sender.send(
      #"{"aps":{"alert":{"title":"Train in 5 Minutes"}}}"#, to: device.token)
    XCTAssertTrue(isAccepted)
    try await device.expect(title: "Train in 5 Minutes", presented: true)
  }
}
