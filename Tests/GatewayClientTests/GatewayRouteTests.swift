import GatewayProtocol
import Testing

@testable import GatewayClient

@Suite struct GatewayRouteTests {
  /// A seeded generator of random numbers (xorshift).
  private struct Seeded: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
      state ^= state << 13
      state ^= state >> 7
      state ^= state << 17
      return state
    }
  }

  private let all = (1...4).map { GatewayAddress(host: "g", port: $0) }

  @Test func `each round tries each address once, whatever the chance`() {
    for seed in UInt64(1)...50 {
      var route = GatewayRoute(reported: Array(all.suffix(2)), generator: Seeded(state: seed))
      let first = route.next(named: Array(all.prefix(2)))
      #expect(first == all[0])
      for round in 0..<5 {
        var tried: [GatewayAddress] = round == 0 ? [all[0]] : []
        while round == 0 ? route.hasUntried : tried.count < 4 { tried.append(route.next(named: all)!) }
        #expect(Set(tried) == Set(all) && tried.count == 4 && !route.hasUntried)
      }
    }
  }

  @Test func `the devices of a gateway that dies spread over the others`() {
    var counts: [GatewayAddress: Int] = [:]
    for seed in UInt64(1)...3000 {
      var route = GatewayRoute(generator: Seeded(state: seed &* 0x9E37_79B9_7F4A_7C15))
      _ = route.next(named: all)
      route.noteCaughtUp()
      counts[route.next(named: all)!, default: 0] += 1
    }
    #expect(counts[all[0]] == nil)
    for other in all.dropFirst() { #expect((850...1150).contains(counts[other] ?? 0)) }
  }

  @Test func `where a gateway sends its devices comes first, then the rest`() {
    var route = GatewayRoute(generator: Seeded(state: 7))
    _ = route.next(named: all)
    route.noteCaughtUp()
    let unknown = GatewayAddress(host: "new", port: 1)
    route.recommend([all[0], all[2], unknown])
    let tried = (0..<4).map { _ in route.next(named: all)! }
    #expect(Set(tried.prefix(2)) == [all[2], unknown])
    #expect(Set(tried.suffix(2)) == [all[1], all[3]])
    #expect(!route.hasUntried)
  }

  @Test func `a list replaces the one before, and the gateway that reported it is part of it`() {
    var route = GatewayRoute()
    _ = route.next(named: [all[0]])
    var news = [route.learn([all[1], all[2]])]
    #expect(route.reported == [all[0], all[1], all[2]])
    news += [route.learn([all[2], all[1]]), route.learn([all[3]])]
    #expect(news == [true, false, true])
    #expect(route.known == [all[0], all[3]])
  }

  @Test func `without an address there is none to try`() {
    var route = GatewayRoute()
    let next = route.next(named: [])
    #expect(next == nil && !route.hasUntried && !route.isRefusedEverywhere)
  }

  @Test func `only a refusal by all of them counts`() {
    var route = GatewayRoute()
    for isRefused in [true, false, true] {
      for _ in 0..<2 {
        _ = route.next(named: Array(all.prefix(2)))
        #expect(!route.isRefusedEverywhere)
        if isRefused || route.hasUntried { route.noteRefusal() }
      }
      #expect(route.isRefusedEverywhere == isRefused)
      route.beginRound()
    }
  }
}
