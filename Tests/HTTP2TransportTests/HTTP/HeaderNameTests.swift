import Testing

@testable import HTTP2Transport

@Suite struct HeaderNameTests {
  /// Returns the `HeaderName` of a text.
  func token(_ text: String) -> HeaderName? {
    unsafe Array(text.utf8).withUnsafeBytes { unsafe HeaderName($0) }
  }

  /// The names that are only sent.
  static let unread: Set<HeaderName> = [.scheme, .host, .contentLength, .contentType]

  @Test(arguments: HeaderName.allCases)
  func `a name that we read is found by its bytes`(_ name: HeaderName) {
    #expect(token("\(name.wireName)") == (HeaderNameTests.unread.contains(name) ? nil : name))
    #expect("\(name.wireName)" == "\(name.wireName)".lowercased())
  }

  @Test(arguments: [
    "", "a", "x-apns-id", "apns-idd", "apns-i", "Apns-Id", "apns-topi", "apns-topic ", "content-encoding",
    "user-agents",
    "a-name-of-seventeen", String(repeating: "a", count: 16), String(repeating: "a", count: 17),
    String(repeating: "a", count: 5000),
  ])
  func `any other name is ignored`(_ text: String) {
    #expect(token(text) == nil)
  }

  @Test func `authorization and the apns fields may come once`() {
    let single: Set<HeaderName> = [
      .authorization, .apnsChannelID, .apnsCollapseID, .apnsExpiration, .apnsID, .apnsPriority, .apnsPushType,
      .apnsRequestID, .apnsTopic, .apnsUniqueID, .apnsDeliverAt, .apnsMarketing,
    ]
    #expect(Set(HeaderName.allCases.filter(\.mustBeSingle)) == single)
  }
}
