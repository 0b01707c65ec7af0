import Synchronization
import Testing

@Suite(.timeLimit(.minutes(5))) struct MailboxConformanceTests {
  @Test(arguments: MailboxHome.all, MailboxConformance.checks.map(\.name))
  func `it does what every mailbox does`(_ home: MailboxHome, _ name: String) async throws {
    try await MailboxConformance.run(name, on: home)
  }

  @Test func `each check has a fault to find`() {
    #expect(Set(ForgetfulMailbox.Fault.allCases.map(\.finder)) == Set(MailboxConformance.checks.map(\.name)))
  }

  @Test(arguments: ForgetfulMailbox.Fault.allCases)
  func `a fault that is planted is found out`(_ fault: ForgetfulMailbox.Fault) async throws {
    let found = Mutex(0)
    try await withKnownIssue(isIntermittent: true) {
      try await MailboxConformance.run(fault.finder, on: ForgetfulMailbox.home(fault))
    } matching: { _ in
      found.withLock { $0 += 1 }
      return true
    }
    #expect(found.withLock { $0 } > 0)
  }
}
