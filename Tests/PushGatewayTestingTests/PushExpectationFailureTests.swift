import Foundation
import Testing

@testable import PushGatewayTesting

@Suite struct PushExpectationFailureTests {
  static let push = #"""
    {"number":3,"received":"2026-01-02T03:04:05.678Z","id":"0F8FAD5B-D9CB-469F-A165-70867728950E","method":"POST",
     "path":"/3/device/ab","headers":{"apns-topic":"com.example.train"},"size":42,"token":"ab","topic":"com.example.train",
     "push_type":"alert","priority":10,"expiration":0,"collapse_id":"train","outcome":"accepted","status":200,
     "sender":{"connection":1,"key_id":"ABC1234567","team_id":"TEAM123456","token_age":5},
     "states":["accepted","suppressed"],"presented":["badge"],
     "suppressed":[{"part":"alert","rule":"N5","setting":"alert=false"}],
     "findings":[{"rule":"B1","at":"/aps/badge","message":"…","refused":false}],
     "lint":[{"rule":"L1","at":"/aps","message":"…","severity":"warning"}],
     "events":[{"at":"2026-01-02T03:04:05.679Z","event":"accepted"}],
     "payload":{"aps":{"alert":{"title":"Bus"},"badge":1},"url":null}}
    """#

  func failure(_ members: String) throws -> PushExpectationFailure {
    let answer = #"{"status":417,"title":"Expectation Failed","expected":1,"matched":0,\#(members)}"#
    let data = Data(answer.utf8)
    return PushExpectationFailure(
      try JSONDecoder().decode(PushExpectationFailure.Answer.self, from: data), at: "Tests/TrainTests.swift:12")
  }

  @Test func `a failure has the nearest pushes, field by field`() throws {
    let differences = #"""
      [{"field":"title","expected":"Train","found":"Bus"},{"field":"payload./url","expected":"https://example.com"},
       {"field":"sound","expected":null,"found":{"name":"bell"}}]
      """#
    let failure = try failure(
      #"""
      "detail":"expected 1 presented push to abababab…, found 0 of 1 within 2s","recorded":1,"pushes":[],
      "nearest":[{"push":\#(Self.push),"cause":"the alert was removed by rule N5 (alert=false)",
      "differences":\#(differences)}]
      """#)
    #expect(
      "\(failure)" == """
        Tests/TrainTests.swift:12: expected 1 presented push to abababab…, found 0 of 1 within 2s
          push 3 "Bus", 200:
            the alert was removed by rule N5 (alert=false)
            title: expected "Train", found "Bus"
            payload./url: expected "https://example.com", found no value
            sound: expected no value, found {"name":"bell"}
        """)
  }

  @Test func `a failure without any push names the causes`() throws {
    let failure = try failure(#""detail":"expected 1 push","recorded":0,"pushes":[],"nearest":[]"#)
    #expect(
      "\(failure)" == """
        Tests/TrainTests.swift:12: expected 1 push
          no push was recorded: check that the sender uses the URL of the test gateway and this token
        """)
  }

  @Test func `a push that was not expected is listed`() throws {
    let failure = try failure(#""detail":"expected no push","recorded":1,"pushes":[\#(Self.push)],"nearest":[]"#)
    #expect(
      "\(failure)" == """
        Tests/TrainTests.swift:12: expected no push
          push 3 "Bus", 200: as expected
        """)
  }

  @Test func `a push is decoded with all members`() throws {
    let push = try JSONDecoder().decode(RecordedPush.self, from: Data(Self.push.utf8))
    #expect(push.title == "Bus")
    #expect(push.body == nil)
    #expect(push.pushType == "alert")
    #expect(push.collapseID == "train")
    #expect(push.sender.keyID == "ABC1234567")
    #expect(push.sender.teamID == "TEAM123456")
    #expect(push.sender.tokenAge == 5)
    #expect(push.suppressed.map(\.rule) == ["N5"])
    #expect(push.payload?["url"] == JSONValue.null)
    #expect(push.findings.first?.refused == false)
    #expect(push.lint.first?.severity == "warning")
  }
}
