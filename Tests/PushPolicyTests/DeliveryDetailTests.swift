import FoundationEssentials
import Testing

@testable import PushPolicy

@Suite struct DeliveryDetailTests {
  static let details: [DeliveryDetail] =
    [
      .nothing, .removed([]), .channel("dHN0LXNyY2gtY2hubA=="), .held(12), .scheduled("2026-11-23T17:00:00.000Z"),
      .repeated(3), .presented([]),
      .presented(["badge", "al\"ert"]), .answered("accept"), .fault(name: "slow", effect: "waits: 5s"),
      .words("what is \u{1} this?"), .lost(3, since: "2026-11-23T17:00:00.000Z"),
      .removed([
        .init(part: .sound, rule: .n6, setting: "apps/a/categories/x; \"y\"/sound"),
        .init(part: .alert, rule: .n7, setting: "quiet/0"),
      ]), .finding(.init(rule: "B1", pointer: "/aps/badge", message: "a badge: no", evidence: [], isReportOnly: true)),
      .finding(.init(rule: "aps", pointer: "/aps/a~1b", message: "no")),
      .finding(.init(rule: "A9", pointer: "/aps/alert", message: "no", evidence: ["50 % off", "now"])),
      .refusal(.init(status: 403, reason: "MissingProviderToken")),
      .refusal(
        .init(
          status: 400, reason: "BadTopic", topic: "a\u{1B}[31m\"b", keyID: "ABC123DEFG", team: "TEAM000001")),
      .refusal(
        .init(
          status: 403, reason: "Forbidden", topic: "a.b",
          finding: .init(rule: "B1", pointer: "/aps/badge", message: "no", evidence: ["\"3\""]))),
      .forwarding(.init(upstream: "api.push.apple.com", status: 200, topic: "a.b")),
      .forwarding(
        .init(
          upstream: "a:2197", status: 503, reason: "ServiceUnavailable", topic: "a\u{1B}b", keyID: "ABC123DEFG",
          team: "TEAM000001", isUnanswered: true)),
    ] + DeliveryDetail.Fact.allCases.map { .fact($0) } + asked

  static let asked: [DeliveryDetail] = [
    "nothing", "badge", "sound", "alert", "badge sound", "badge alert", "sound alert", "badge sound alert",
    "badge; passive", "sound; critical; silent; focus work", "alert; category A; B",
  ].compactMap { RequestedPresentation($0) }.map { .asked($0) }

  @Test(arguments: details)
  func `what is written by hand decodes to the same, and so does what is encoded`(_ detail: DeliveryDetail) throws {
    var bytes = Array("before".utf8)
    detail.appendJSON(to: &bytes)
    #expect(bytes.starts(with: "before".utf8))
    let written = Data(bytes.dropFirst(6))
    #expect(try JSONDecoder().decode(DeliveryDetail.self, from: written) == detail)
    let encoded = try JSONEncoder().encode(detail)
    #expect(try JSONDecoder().decode(DeliveryDetail.self, from: encoded) == detail)
    func keys(_ json: Data) throws -> Set<String> {
      try Set(JSONDecoder().decode([String: Anything].self, from: json).keys)
    }
    #expect(try keys(written) == keys(encoded))
  }

  @Test func `the words of a refusal name the answer, the key and the team`() {
    var refusal = DeliveryDetail.Refusal(status: 403, reason: "MissingProviderToken", topic: "a.b")
    #expect(DeliveryDetail.refusal(refusal).words == "403 MissingProviderToken")
    (refusal.keyID, refusal.team) = ("ABC123DEFG", "TEAM000001")
    refusal.finding = .init(rule: "B1", pointer: "/aps/badge", message: "no")
    #expect(
      DeliveryDetail.refusal(refusal).words
        == "B1 /aps/badge: no; 403 MissingProviderToken, key ABC123DEFG, team TEAM000001")
  }

  @Test func `the words of a forwarded push name the answer and the upstream, or that there was no answer`() {
    var forwarding = DeliveryDetail.Forwarding(upstream: "push.example", status: 200)
    #expect(DeliveryDetail.forwarding(forwarding).words == "200 of push.example")
    (forwarding.status, forwarding.reason, forwarding.keyID) = (400, "BadDeviceToken", "ABC123DEFG")
    forwarding.team = "TEAM000001"
    #expect(
      DeliveryDetail.forwarding(forwarding).words
        == "400 BadDeviceToken of push.example, key ABC123DEFG, team TEAM000001")
    forwarding = .init(upstream: "push.example", status: 503, reason: "ServiceUnavailable", isUnanswered: true)
    #expect(DeliveryDetail.forwarding(forwarding).words == "503 ServiceUnavailable, no answer of push.example")
  }

  private struct Anything: Decodable { init(from decoder: any Decoder) {} }

  @Test func `a code is one detail's, and never the first byte of JSON`() {
    let codes = Self.details.compactMap(\.code)
    #expect(Set(codes).count == codes.count)
    #expect(codes.count == DeliveryDetail.Fact.allCases.count + 8)
    for detail in Self.details {
      guard let code = detail.code else { continue }
      #expect(DeliveryDetail(code: code) == detail)
      #expect(code != UInt8(ascii: "{"))
    }
    #expect(DeliveryDetail(code: 0) == nil && DeliveryDetail(code: 0x7F) == nil && DeliveryDetail(code: 0x88) == nil)
  }

  @Test(arguments: ["{}", #"{"later":1}"#, #"{"words":null}"#])
  func `what a newer version may tell is nothing`(_ text: String) throws {
    #expect(try JSONDecoder().decode(DeliveryDetail.self, from: Data(text.utf8)) == .nothing)
  }
}
