import CMallocCount
import Glibc
import PushPolicy

/// Measures the time and the allocations of one decision: `make bench-policy`.
///
/// Exits with 1 if a decision with prepared preferences takes a microsecond or more, or if a usual one allocates. It
/// also does so if a verdict on advertising takes ten microseconds or more, or allocates.
@main
struct PolicyBench {
  /// A measured decision.
  struct Case {
    var name: String
    var push: PushNotification
    var preferences: Preferences
    var device = Policy.DeviceState()
    /// True if the decision may allocate: a decision that removes parts allocates their descriptions.
    var mayAllocate = false
  }

  static let rounds = 60
  static let count = 20_000
  /// The limit for a decision, in nanoseconds.
  static let bound = 1000.0
  /// The limit for a verdict on advertising, in nanoseconds.
  static let verdictBound = 10_000.0

  static func main() {
    var hasFailed = false
    print("                                        ns  allocations")
    for item in cases {
      let (time, allocations) = measure {
        let decision = Policy.decide(
          item.push, topic: "com.example.news", preferences: item.preferences, device: item.device, at: moment)
        return decision.presentation.badge ?? decision.removed.count
      }
      let isBad = time >= bound || allocations > 0 && !item.mayAllocate
      hasFailed = hasFailed || isBad
      show(item.name, time, allocations, isBad ? "  too much" : "")
    }
    let parser = JSONParser()
    let (time, allocations) = measure {
      let push = (try? parser.payload(payload.span))?.notification ?? PushNotification()
      return Policy.decide(
        push, topic: "com.example.news", preferences: busy, device: .init(), at: moment
      ).presentation.badge ?? 0
    }
    show("payload of \(payload.count) bytes read and decided", time, allocations, "")
    let detector = AdDetector()
    for item in verdicts {
      guard let alert = notification(item.payload).alert else { preconditionFailure("the payload has an alert") }
      precondition(detector.assess(alert) == item.outcome, "\(item.name): expected \(item.outcome)")
      let (time, allocations) = measure { detector.assess(alert) == .pass ? 1 : 0 }
      let isBad = time >= verdictBound || allocations > 0
      hasFailed = hasFailed || isBad
      show("\(item.name), \(item.payload.utf8.count) bytes", time, allocations, isBad ? "  too much" : "")
    }
    if hasFailed { exit(1) }
  }

  /// A time whose zones are all UTC+1: the lookup of the zone is the caller's cost.
  static let moment = ZonedTime(seconds: 1_800_000_000) { _, _ in 3600 }

  static let payload =
    Array(
      #"{"aps":{"alert":{"title":"Train in 5 Minutes","body":"The train to Berlin leaves at 12:30 from platform 4."},"#
        .utf8)
    + Array(#""badge":3,"sound":"chime.caf","category":"TRAINS","thread-id":"berlin"},"train":{"id":"ICE 1043"}}"#.utf8)

  /// The processor time of this thread in nanoseconds, which other load on the machine affects little.
  static var processorTime: Int {
    var time = timespec()
    unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
  }

  /// Returns the nanoseconds and allocations of one call: the minimum time and the maximum number of allocations of
  /// several rounds.
  static func measure(_ body: () -> Int) -> (time: Double, allocations: Double) {
    var best = Double.infinity
    var most = 0.0
    var sum = 0
    for round in 0...rounds {
      let (start, allocations) = (processorTime, malloc_count())
      for _ in 0..<count { sum &+= body() }
      let time = Double(processorTime - start) / Double(count)
      // The first round fills caches.
      guard round > 0 else { continue }
      best = min(best, time)
      most = max(most, Double(malloc_count() - allocations) / Double(count))
    }
    precondition(sum != .min)
    return (best, most)
  }

  static func show(_ name: String, _ time: Double, _ allocations: Double, _ remark: String) {
    func padded(_ text: String, _ width: Int) -> String {
      String(repeating: " ", count: max(0, width - text.count)) + text
    }
    let digits = "\(Int(time.rounded()))"
    let count = "\((allocations * 10).rounded() / 10)"
    print(name + padded(digits, 42 - name.count) + padded(count, 13) + remark)
  }
}

extension PolicyBench {
  static let push = notification(payload)

  static func notification(_ payload: [UInt8]) -> PushNotification {
    guard let parsed = try? JSONParser().payload(payload.span) else { preconditionFailure("the payload is valid") }
    return parsed.notification
  }

  static func notification(_ payload: String) -> PushNotification { notification(Array(payload.utf8)) }

  /// A measured verdict, on a payload of about 200 bytes.
  struct Verdict {
    var name: String
    var payload: String
    var outcome: AdAssessment.Outcome
  }

  static let verdicts = [
    Verdict(
      name: "English, no ad",
      payload: #"{"aps":{"alert":{"title":"Train in 5 Minutes","body":"The train to Berlin leaves at 12:30 from "#
        + #"platform 4. Your seat is 61 in coach 9, beside the window."},"sound":"default"},"train":"ICE 1043"}"#,
      outcome: .pass),
    Verdict(
      name: "English, an ad",
      payload: #"{"aps":{"alert":{"title":"Flash Sale","body":"Flash sale! Up to 70% off everything, today only. Use "#
        + #"code SAVE70 at checkout and shop now before it ends."},"sound":"default"},"shop":"spring 26"}"#,
      outcome: .refuse),
    Verdict(
      name: "Chinese, no ad",
      payload: #"{"aps":{"alert":{"title":"列车提醒","body":"您乘坐的列车将于12:30从4号站台发车,座位9车61号,"#
        + #"靠窗。请提前十五分钟到站检票。"},"sound":"default"},"train":"G1043"}"#,
      outcome: .pass),
    Verdict(
      name: "Chinese, an ad",
      payload: #"{"aps":{"alert":{"title":"限时抢购","body":"全场低至3折,仅限今天!领券下单再减50元,"#
        + #"立即抢购,先到先得,错过再等一年。"},"sound":"default"},"shop":"spring"}"#,
      outcome: .refuse),
  ]

  /// The preferences of a user with many settings, none of which suppresses this push now.
  static let busy: Preferences = {
    var preferences = Preferences()
    for number in 0..<50 { preferences.apps["com.example.app\(number)", default: .init()].parts.sound = false }
    var app = AppPreferences()
    app.categories["TRAINS", default: .init()].alert = true
    (app.alertBudget, app.timeSensitive) = (5, true)
    preferences.apps["com.example.news"] = app
    preferences.quietHours = [QuietWindow("22:00-07:00 Europe/Berlin"), QuietWindow("13:00-14:00 sat,sun")].compactMap(
      \.self)
    preferences.focuses["work"] = ["com.example.news"]
    return preferences
  }()

  static let cases: [Case] = {
    var quiet = busy
    quiet.quietHours = [QuietWindow(from: 0, to: 0)]
    var summary = busy
    summary.apps["com.example.news"]?.delivery = .summary
    var off = Preferences()
    off.notifications = false
    var silent = Policy.DeviceState()
    silent.isSilent = true
    var work = Policy.DeviceState()
    work.focus = "work"
    return [
      Case(name: "no choices", push: push, preferences: Preferences()),
      Case(name: "many choices", push: push, preferences: busy),
      Case(name: "many choices, a Focus", push: push, preferences: busy, device: work),
      Case(name: "silent", push: push, preferences: busy, device: silent, mayAllocate: true),
      Case(name: "quiet hours", push: push, preferences: quiet, mayAllocate: true),
      Case(name: "for the summary", push: push, preferences: summary, mayAllocate: true),
      Case(name: "everything off", push: push, preferences: off, mayAllocate: true),
    ]
  }()
}
