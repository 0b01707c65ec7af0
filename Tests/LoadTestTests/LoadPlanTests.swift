import Testing

@testable import LoadTest

@Suite struct LoadPlanTests {
  @Test(arguments: [0.0, 1, 12.5, 50, 99, 100])
  func `a share of devices is exact and spread`(_ percent: Double) {
    let chosen = (0..<800).filter { LoadPlan.isOf(percent, $0) }
    #expect(chosen.count == Int(800 * percent / 100))
    if percent == 50 { #expect((0..<799).allSatisfy { LoadPlan.isOf(50, $0) != LoadPlan.isOf(50, $0 + 1) }) }
  }

  @Test func `loops share a plan without losing anything`() {
    var plan = LoadPlan()
    (plan.devices, plan.pace, plan.pushes, plan.loops) = (10, .steady(1000), 101, 3)
    let shares = [3, 3, 4].enumerated().map { plan.share($0.offset, devices: $0.element, providers: 1) }
    #expect(shares.compactMap(\.pushes).reduce(0, +) == 101)
    let rates = shares.map { if case .steady(let rate) = $0.pace { rate } else { 0.0 } }
    #expect(rates == [300, 300, 400])
  }

  @Test func `loops share as many pushes as there can be`() {
    var plan = LoadPlan()
    (plan.devices, plan.pushes, plan.loops) = (64, LoadPlan.maximumPushes, 64)
    let shares = (0..<64).map { plan.share($0, devices: 1, providers: 1) }
    #expect(shares.compactMap(\.pushes).reduce(0, +) == LoadPlan.maximumPushes)
  }
}
