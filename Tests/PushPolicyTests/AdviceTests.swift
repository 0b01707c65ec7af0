import PushPolicy
import Testing

/// Proposals for alerts that are never opened.
struct AdviceTests {
  private let topic = "com.example.news"

  /// Takes the rows of so many alerts of a category; `answers` has the event of each answer.
  private func note(
    _ use: inout AlertUse, _ category: String?, of app: String? = nil, alerts: Int, answers: [String] = [],
    parts: [String] = ["alert"]
  ) {
    let topic = app ?? self.topic
    var push = PushNotification()
    push.alert = .init()
    push.category = category
    for number in 0..<alerts {
      let id = "\(topic)-\(category ?? "")-\(number)"
      use.note("transmitted", id: id, topic: topic, .asked(RequestedPresentation(push, on: .init())))
      use.note("presented", id: id, topic: topic, .presented(parts))
      if number < answers.count { use.note(answers[number], id: id, topic: topic, .nothing) }
    }
  }

  private func advice(
    _ preferences: Preferences = Preferences(), _ body: (inout AlertUse) -> Void
  ) -> [Advice] {
    var use = AlertUse()
    body(&use)
    return use.advice(for: preferences)
  }

  @Test func `an app of which nothing is opened gets one proposal with evidence and undo`() {
    let proposals = advice {
      note(&$0, "SPORT", alerts: 8, answers: ["closed", "closed"])
      note(&$0, nil, alerts: 4)
    }
    #expect(proposals.count == 1)
    #expect(proposals.first?.category == nil)
    #expect(proposals.first?.use.presented == 12 && proposals.first?.use.closed == 2)
    let set = "pushcli prefs set --device me --app \(topic)"
    #expect(proposals.first?.command(device: "me") == "\(set) delivery=summary")
    #expect(proposals.first?.undo(device: "me") == "\(set) delivery=now")
  }

  @Test(arguments: ["viewed", "action"])
  func `a category that is never opened gets a proposal if another one is`(_ answer: String) throws {
    let proposals = advice {
      note(&$0, "SALE OF THE DAY", alerts: 10, answers: ["closed"])
      note(&$0, "CHAT", alerts: 10, answers: [answer])
      note(&$0, nil, alerts: 30)
    }
    #expect(proposals.map(\.category) == ["SALE OF THE DAY"])
    let set = "pushcli prefs set --device me --app \(topic) --category 'SALE OF THE DAY'"
    #expect(proposals.first?.command(device: "me") == "\(set) permission=quiet")
    #expect(proposals.first?.undo(device: "me") == "\(set) permission=new")
    var shown = Preferences()
    try shown.set("permission=show", app: topic, category: "SALE OF THE DAY")
    let again = advice(shown) {
      note(&$0, "SALE OF THE DAY", alerts: 10)
      note(&$0, "CHAT", alerts: 10, answers: [answer])
    }
    #expect(again.first?.former == "permission=show")
  }

  @Test func `few alerts, other parts and unknown pushes are no evidence`() {
    let few = advice { note(&$0, nil, alerts: AlertUse.minimumAlerts - 1) }
    let badges = advice { note(&$0, nil, alerts: 20, parts: ["badge"]) }
    let unknown = advice { use in
      for number in 0..<20 { use.note("presented", id: "\(number)", topic: topic, .presented(["alert"])) }
    }
    #expect(few.isEmpty && badges.isEmpty && unknown.isEmpty)
  }

  @Test(arguments: ["delivery=summary", "provisional=on"])
  func `an app that is quiet already gets no proposal`(_ setting: String) throws {
    var preferences = Preferences()
    try preferences.set(setting, app: topic, category: nil)
    let proposals = advice(preferences) { note(&$0, nil, alerts: 20) }
    #expect(proposals.isEmpty)
  }

  @Test func `the categories of one app are not those of another`() {
    let proposals = advice {
      for app in ["com.example.a", "com.example.b"] {
        note(&$0, "SALE", of: app, alerts: 10)
        note(&$0, "CHAT", of: app, alerts: 1, answers: app.hasSuffix("a") ? ["viewed"] : [])
      }
      note(&$0, "NEWS", of: "com.example.c", alerts: 10, answers: ["viewed"])
    }
    #expect(proposals.map(\.topic) == ["com.example.a", "com.example.b"])
    #expect(proposals.map(\.category) == ["SALE", nil])
  }

  #if DEBUG
    @Test(arguments: [10, 100]) func `proposals take steps in proportion to the categories of all apps`(_ apps: Int) {
      var use = AlertUse()
      for number in 0..<apps {
        note(&use, "SALE", of: "com.example.app\(number)", alerts: 10)
        note(&use, "CHAT", of: "com.example.app\(number)", alerts: 1, answers: ["viewed"])
      }
      var found = 0
      let steps = ReadingSteps.taken { found = use.advice(for: Preferences()).count }
      #expect(found == apps)
      #expect(steps > 0 && steps <= 2 * 2 * apps)
    }
  #endif

  @Test func `the categories of questions are those of the app`() {
    let proposals = advice {
      note(&$0, "ASK-1", alerts: 10, answers: ["closed"])
      note(&$0, "CHAT", alerts: 1, answers: ["viewed"])
    }
    #expect(proposals.isEmpty)
  }
}
