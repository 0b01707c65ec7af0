import PushTesting
import Testing

@testable import PushCore
@testable import PushGateway

@Suite struct PostponedNoticesTests {
  @Test func `the newest choices and the last retractions are kept, once`() {
    var notices = PostponedNotices()
    #expect(notices.take().isEmpty)
    notices.add(.preferences([1]))
    for number in 0..<PostponedNotices.maximumRetractions + 5 { notices.add(.retract(.number(number))) }
    notices.add(.preferences([2]))
    var ids: [String] = []
    var preferences: [[UInt8]] = []
    for notice in notices.take() {
      switch notice {
      case .retract(let id): ids.append(id.description)
      case .preferences(let json): preferences.append(json)
      case .answered, .takenBack, .acknowledged, .channels, .revoked, .cutOff: Issue.record("this was not added")
      }
    }
    #expect(preferences == [[2]])
    #expect(ids == (5..<PostponedNotices.maximumRetractions + 5).map { APNSID.number($0).description })
    #expect(notices.take().isEmpty)
  }
}
