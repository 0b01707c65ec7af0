import GatewayProtocol
import PushPolicy
import Testing

@testable import pushcli

@Suite struct QuestionProgressTests {
  private func record(_ event: String, _ device: String, _ details: DeliveryDetail = .nothing) -> LogRecord {
    LogRecord(
      number: 1, at: "", event: event, id: "", uniqueID: nil, status: nil, device: device, topic: nil, details)
  }

  private func removed(_ part: Part, _ rule: Rule) -> DeliveryDetail {
    .removed([Decision.Removal(part: part, rule: rule, setting: "alert")])
  }

  @Test func `the first answer counts, whoever gives it`() {
    var progress = QuestionProgress()
    progress.ask(["ann"])
    progress.ask(["bob", "bob-2"])
    progress.take(record("action", "eve", .answered("no")))
    #expect(progress.end == nil)
    progress.take(record("closed", "ann", .answered("close")))
    #expect(progress.end == nil)
    progress.take(record("action", "bob-2", .answered("yes")))
    progress.take(record("action", "ann", .answered("no")))
    #expect(progress.end == .answered(action: "yes", device: "bob-2"))
  }

  @Test func `a person who closes it on one device has closed it on all`() {
    var progress = QuestionProgress()
    progress.ask(["bob", "bob-2"])
    progress.take(record("closed", "bob", .answered("close")))
    #expect(progress.end == .closed(event: "closed"))
    progress.ask(["ann"])
    #expect(progress.end == nil)
  }

  @Test func `who refuses alerts can't answer, and who is in quiet hours may`() {
    var progress = QuestionProgress()
    progress.ask(["ann"])
    progress.take(record("suppressed", "ann", removed(.sound, .n5)))
    progress.take(record("suppressed", "ann", removed(.alert, .n7)))
    #expect(progress.end == nil)
    progress.take(record("suppressed", "ann", removed(.alert, .n5)))
    #expect(progress.end == .refused("rule N5: alert"))
  }

  @Test func `that somebody closed it says more than that another never saw it`() {
    var progress = QuestionProgress()
    #expect(progress.end == nil)
    progress.ask(["ann"])
    progress.take(record("expired", "ann"))
    #expect(progress.end == .expired)
    progress.ask(["bob"])
    progress.refuse("bob", "rule N4: notifications are off, for everything")
    #expect(progress.end == .refused("rule N4: notifications are off, for everything"))
    progress.ask(["eve"])
    progress.take(record("viewed", "eve"))
    #expect(progress.end == .closed(event: "viewed"))
  }
}
