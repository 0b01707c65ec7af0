import GatewayProtocol
import PushCore
import PushTesting
import Testing

@testable import PushGateway

@Suite struct ClusterNoticeTests {
  @Test(arguments: [
    (DeviceNotice.retract(.number(1)), "", nil), (.takenBack(.number(1), topic: "a.b"), " a.b", nil),
    (.answered(.number(1), GivenAnswer(action: "yes", person: "ann lee")), "", "yes person ann lee"),
    (.answered(.number(1), GivenAnswer(action: "yes", device: "laptop")), "", "yes device laptop"),
    (.answered(.number(1), GivenAnswer(action: "yes")), "", "yes"),
  ])
  func `another gateway reads what was written, and an earlier one all but the answer`(
    _ notice: DeviceNotice, _ rest: String, _ answer: String?
  ) throws {
    let written = try #require(ClusterNotice(notice))
    #expect(written.header == "\(APNSID.number(1))" + rest && written.answerHeader == answer)
    #expect(ClusterNotice(header: written.header, answerHeader: answer) == written)
    #expect(ClusterNotice(written.notice) == written)
  }

  @Test func `another gateway reads an acknowledgement`() throws {
    let written = try #require(ClusterNotice(.acknowledged(.max)))
    #expect(written.header == "acknowledged 18446744073709551615" && written.answerHeader == nil)
    #expect(ClusterNotice(header: written.header) == written)
    #expect(ClusterNotice(written.notice) == written)
  }

  @Test(arguments: ["", "acknowledged", "acknowledged x", "acknowledged -1", "acknowledged 18446744073709551616"])
  func `a notice that is none is ignored`(_ header: String) {
    #expect(ClusterNotice(header: header) == nil)
  }
}
