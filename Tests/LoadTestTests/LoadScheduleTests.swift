import Testing

@testable import LoadTest

@Suite struct LoadScheduleTests {
  @Test(arguments: [
    LoadPlan.Pace.steady(1000), .steady(0.5), .ramp(from: 100, to: 1000), .ramp(from: 1000, to: 100),
    .ramp(from: 500, to: 500),
  ])
  func `a push is due from its intended time on, and not before`(_ pace: LoadPlan.Pace) {
    let schedule = LoadPlan(pace: pace, warmUp: 2, duration: 10)
    let all = schedule.due(at: 12)
    #expect(all > 0)
    for number in stride(from: 0, to: all, by: max(1, all / 50)) {
      let time = Double(schedule.intended(number)) / 1e9
      #expect(schedule.due(at: time + 1e-6) >= number + 1)
      #expect(schedule.due(at: time - 1e-6) <= number)
    }
  }

  @Test func `a steady rate sends the same number in each second`() {
    let schedule = LoadPlan(pace: .steady(250), warmUp: 1, duration: 3)
    #expect((0...4).map { schedule.due(at: Double($0)) } == [0, 250, 500, 750, 1000])
  }

  @Test func `a ramp begins after the warm-up, which has its first rate`() {
    let schedule = LoadPlan(pace: .ramp(from: 100, to: 300), warmUp: 2, duration: 4)
    #expect(schedule.due(at: 2) == 200)
    // The mean of 100 and 300, for four seconds.
    #expect(schedule.due(at: 6) == 200 + 800)
  }

  @Test(arguments: [
    LoadPlan.Pace.steady(0), .steady(.leastNonzeroMagnitude), .steady(1e-300), .steady(0.001),
    .ramp(from: 0, to: 0),
    .ramp(from: 1e-300, to: 1e-300), .ramp(from: 10_000_000, to: 0.001), .ramp(from: 0.001, to: 10_000_000),
  ])
  func `every push has a time that a mark can hold, also what is never sent`(_ pace: LoadPlan.Pace) {
    let schedule = LoadPlan(pace: pace, warmUp: 3600, duration: 86_400)
    for number in [0, 1, LoadPlan.maximumPushes] {
      #expect(schedule.intended(number) <= LoadTag.maximumIntended)
    }
    #expect(schedule.due(at: .infinity) >= 0)
  }

  @Test func `nothing becomes due after the end`() {
    let schedule = LoadPlan(pace: .steady(10), warmUp: 0, duration: 1)
    #expect(schedule.due(at: 100) == 10)
  }
}

extension LoadPlan {
  fileprivate init(pace: Pace, warmUp: Double, duration: Double) {
    self.init()
    (self.pace, self.warmUp, self.duration) = (pace, warmUp, duration)
  }
}
