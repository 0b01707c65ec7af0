import PushCore
import Testing

@testable import PushGateway

/// The links and the sessions of the console, as values.
@Suite struct ConsoleSessionsTests {
  static let socket = ConsoleSessions.Grant(
    administrator: Administrator(role: .admin, credential: .socket(user: 0)), bearer: nil)

  @Test func `a link is for one use, and its session has the permissions of the link`() throws {
    let sessions = ConsoleSessions()
    let link = sessions.link(for: ConsoleSessionsTests.socket, now: 100)
    #expect(link.expires == 100 + Limits.consoleLinkTime)
    let begun = try #require(sessions.begin(link.code, now: 101))
    #expect(begun.entry.grant == ConsoleSessionsTests.socket)
    #expect(begun.entry.expires == 101 + Limits.consoleSessionTime)
    #expect(sessions.begin(link.code, now: 101) == nil)
    #expect(sessions.session(begun.secret, now: 101) == begun.entry)
    #expect(sessions.session(link.code, now: 101) == nil)
    #expect(sessions.begin(begun.secret, now: 101) == nil)
  }

  @Test func `a link and a session end at their times, and a session also earlier`() throws {
    let sessions = ConsoleSessions()
    let late = sessions.link(for: ConsoleSessionsTests.socket, now: 0)
    #expect(sessions.begin(late.code, now: Limits.consoleLinkTime) == nil)
    let link = sessions.link(for: ConsoleSessionsTests.socket, now: 0)
    let begun = try #require(sessions.begin(link.code, now: Limits.consoleLinkTime - 1))
    #expect(sessions.session(begun.secret, now: begun.entry.expires - 1) != nil)
    #expect(sessions.session(begun.secret, now: begun.entry.expires) == nil)
    sessions.end(begun.secret)
    #expect(sessions.session(begun.secret, now: Limits.consoleLinkTime) == nil)
  }

  @Test func `beyond the maximum of links, the oldest one is removed`() {
    let sessions = ConsoleSessions()
    let first = sessions.link(for: ConsoleSessionsTests.socket, now: 0).code
    let second = sessions.link(for: ConsoleSessionsTests.socket, now: 1).code
    for _ in 2...Limits.maximumConsoleLinks { _ = sessions.link(for: ConsoleSessionsTests.socket, now: 2) }
    #expect(sessions.begin(first, now: 2) == nil)
    #expect(sessions.begin(second, now: 2) != nil)
  }

  @Test func `links that have ended make room first`() {
    let sessions = ConsoleSessions()
    for _ in 0..<Limits.maximumConsoleLinks { _ = sessions.link(for: ConsoleSessionsTests.socket, now: 0) }
    let last = sessions.link(for: ConsoleSessionsTests.socket, now: Limits.consoleLinkTime)
    #expect(sessions.begin(last.code, now: Limits.consoleLinkTime) != nil)
  }
}
