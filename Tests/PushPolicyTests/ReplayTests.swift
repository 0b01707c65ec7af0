import PushPolicy
import Testing

@Suite struct ReplayTests {
  func asked(_ text: String) throws -> RequestedPresentation { try #require(RequestedPresentation(text)) }

  @Test(arguments: [
    "nothing", "badge", "badge sound alert", "alert; passive", "sound; critical; silent; focus work",
    "badge alert; time-sensitive; category A; B", "alert; focus a b",
  ])
  func `what was asked is written as it is read`(_ text: String) throws {
    #expect(try asked(text).description == text)
  }

  @Test(arguments: ["", "alert badge", "alert; loud", "x", "badge;silent?"])
  func `what says nothing of a push is not read`(_ text: String) { #expect(RequestedPresentation(text) == nil) }

  @Test func `a push is told as it is`() throws {
    var push = PushNotification()
    push.sound = .init(name: "x")
    push.sound?.isCritical = true
    push.category = "c"
    var device = Policy.DeviceState()
    (device.isSilent, device.focus) = (true, "work")
    #expect(RequestedPresentation(push, on: device).description == "sound; critical; silent; focus work; category c")
    #expect(try asked("sound; critical; silent; focus work; category c") == RequestedPresentation(push, on: device))
  }

  @Test func `removals are written as they are read`() {
    let removals = [
      Decision.Removal(part: .sound, rule: .n6, setting: "apps/a/categories/x; y/sound"),
      Decision.Removal(part: .alert, rule: .n7, setting: "quiet/0"),
    ]
    #expect(Decision.Removal.list(removals.map(\.description).joined(separator: "; ")) == removals)
    #expect(Decision.Removal.list("").isEmpty)
  }

  @Test func `other choices make a difference where they do`() throws {
    var preferences = Preferences()
    preferences.quietHours = [QuietWindow(from: 0, to: 60)]
    preferences.apps["a", default: .init()].alertBudget = 1
    var replay = Replay(preferences) { _, _ in 0 }
    func delivery(_ id: String, at: Int64, _ text: String, removed: [Decision.Removal] = []) throws -> Replay.Delivery {
      Replay.Delivery(id: id, topic: "a", at: at, received: at, asked: try asked(text), removed: removed)
    }
    let quiet = replay.decide(try delivery("1", at: 60, "badge sound alert"))
    #expect(quiet.presented == [.badge])
    #expect(quiet.lost == [.sound, .alert])
    #expect(quiet.removed.map(\.rule) == [.n7, .n7])
    let first = replay.decide(try delivery("2", at: 7200, "alert"))
    #expect(first.lost.isEmpty && first.gained.isEmpty)
    #expect(replay.decide(try delivery("3", at: 7201, "alert")).removed.map(\.rule) == [.a8])
    let other = replay.decide(
      try delivery("4", at: 7202, "badge", removed: [.init(part: .badge, rule: .n5, setting: "apps/a/badge")]))
    #expect(other.gained == [.badge])
  }

  @Test func `what was taken for advertising is so again, until the person allows it`() throws {
    let removed = [Part.sound, .alert].map {
      Decision.Removal(part: $0, rule: .a9, setting: "apps/a/advertising")
    }
    let delivery = Replay.Delivery(
      id: "1", topic: "a", at: 0, received: 0, asked: try asked("badge sound alert"), removed: removed)
    var preferences = Preferences()
    var replay = Replay(preferences) { _, _ in 0 }
    let same = replay.decide(delivery)
    #expect(same.removed == removed)
    #expect(same.gained.isEmpty && same.lost.isEmpty)
    preferences.apps["a", default: .init()].advertising = true
    replay = Replay(preferences) { _, _ in 0 }
    #expect(replay.decide(delivery).gained == [.sound, .alert])
  }
}
