import PushTesting
import Testing

@testable import GatewayProtocol
@testable import HTTP2Transport
@testable import PushCore
@testable import PushGateway

@Suite struct NotificationHeadersTests {
  let request = SampleRequest()

  func reason(_ request: SampleRequest) -> Reason? {
    rejection { () throws(Rejection) in
      _ = try NotificationHeaders(request.message, topics: TopicCache(registrations: MemoryRegistrations()))
    }?.reason
  }

  @Test func `the sample is accepted as it is`() throws {
    let headers = try NotificationHeaders(request.message, topics: TopicCache(registrations: MemoryRegistrations()))
    #expect(headers.id?.description == SampleRequest.id)
    #expect(headers.pushType == .alert)
    #expect(headers.priority == 5)
    #expect(headers.expiration == 1_800_003_600)
    #expect(headers.collapseID == "weather")
    #expect(headers.topic.text == SampleRequest.topic)
  }

  @Test func `the topic alone is enough`() throws {
    let message = Message()
    message.keep(.apnsTopic, SampleRequest.topic)
    let headers = try NotificationHeaders(message, topics: TopicCache(registrations: MemoryRegistrations()))
    #expect(headers.id == nil)
    #expect(headers.pushType == nil)
    #expect(headers.priority == 10)
    #expect(headers.expiration == nil)
    #expect(headers.collapseID == "")
  }

  @Test(arguments: ["", "7", "not-a-uuid", "0f8fad5bd9cb469fa16570867728950e", SampleRequest.id + "0"])
  func `an apns-id that is no UUID is BadMessageId`(_ value: String) {
    #expect(reason(request.with(.apnsID, value)) == .badMessageId)
  }

  @Test(arguments: ["", "alarm", "alert ", "alert,background"])
  func `an unknown apns-push-type is InvalidPushType`(_ value: String) {
    #expect(reason(request.with(.apnsPushType, value)) == .invalidPushType)
  }

  @Test(arguments: ["", "0", "2", "7", "11", "100", "-5", "+5", "5.0", " 5", "05", "010", "01", "ten", "５"])
  func `an unknown apns-priority is BadPriority`(_ value: String) {
    #expect(reason(request.with(.apnsPriority, value)) == .badPriority)
  }

  @Test(arguments: [("1", 1), ("5", 5), ("10", 10)] as [(String, UInt8)])
  func `the three priorities are accepted`(_ value: String, _ priority: UInt8) throws {
    #expect(
      try NotificationHeaders(
        request.with(.apnsPriority, value).message, topics: TopicCache(registrations: MemoryRegistrations())
      ).priority == priority)
  }

  @Test(arguments: ["", "-1", "1.5", "1e9", "soon", " 0", "0x10", "1000000000000000000", "2027-01-15"])
  func `an apns-expiration that is no number of seconds is BadExpirationDate`(_ value: String) {
    #expect(reason(request.with(.apnsExpiration, value)) == .badExpirationDate)
  }

  @Test(
    arguments: [
      ("0", nil), ("300", nil), ("1799999999", nil), ("1800000000", nil), ("1800000001", 1_800_000_001),
      ("1802592000", 1_802_592_000), ("1802592001", 1_802_592_000), ("999999999999999999", 1_802_592_000),
    ]
      as [(String, Int64?)])
  func `a push lives until its expiration, at most 30 days, and not at all when that is over`(
    _ value: String, _ expires: Int64?
  ) throws {
    let headers = try NotificationHeaders(
      request.with(.apnsExpiration, value).message, topics: TopicCache(registrations: MemoryRegistrations()))
    #expect(headers.expires(now: 1_800_000_000) == expires)
  }

  @Test func `a push without an expiration lives for 30 days`() throws {
    let headers = try NotificationHeaders(
      request.with(.apnsExpiration, nil).message, topics: TopicCache(registrations: MemoryRegistrations()))
    #expect(headers.expires(now: 1_800_000_000) == 1_802_592_000)
  }

  @Test(arguments: [
    (String(repeating: "a", count: 64), true), (String(repeating: "a", count: 65), false),
    (String(repeating: "é", count: 32), true), (String(repeating: "é", count: 33), false), ("", true),
  ])
  func `a collapse id has at most 64 bytes, however many characters`(_ value: String, _ isAccepted: Bool) {
    #expect(reason(request.with(.apnsCollapseID, value)) == (isAccepted ? nil : .badCollapseId))
  }

  @Test(arguments: [nil, ""])
  func `a request without a topic is MissingTopic`(_ value: String?) {
    #expect(reason(request.with(.apnsTopic, value)) == .missingTopic)
  }

  @Test(arguments: ["com.example news", "com/example", "cöm", "*", String(repeating: "a", count: 256)])
  func `a malformed topic is BadTopic`(_ value: String) {
    #expect(reason(request.with(.apnsTopic, value)) == .badTopic)
  }

  @Test(arguments: ["a", "com.example.news-2_x", "COM.EXAMPLE", String(repeating: "a", count: 255)])
  func `a well-formed topic is accepted`(_ value: String) {
    #expect(reason(request.with(.apnsTopic, value)) == nil)
  }

  @Test func `faults are found in the order of the reference`() {
    let faults: [(HeaderName, String, Reason)] = [
      (.apnsTopic, "*", .badTopic), (.apnsCollapseID, String(repeating: "a", count: 65), .badCollapseId),
      (.apnsExpiration, "x", .badExpirationDate), (.apnsPriority, "x", .badPriority),
      (.apnsPushType, "x", .invalidPushType), (.apnsID, "x", .badMessageId),
    ]
    var request = request
    for (name, value, expected) in faults {
      request = request.with(name, value)
      #expect(reason(request) == expected)
    }
  }
}
