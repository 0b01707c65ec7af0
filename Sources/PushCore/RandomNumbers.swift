/// Bytes nobody can guess: of secrets, tokens, serial numbers.
package func randomBytes(count: Int) -> [UInt8] {
  var system = SystemRandomNumberGenerator()
  return (0..<count).map { _ in UInt8.random(in: 0 ... .max, using: &system) }
}

/// Random numbers for identifiers that need be unique but not secret (xoshiro256**, Blackman and Vigna).
package struct FastRandom: RandomNumberGenerator {
  private var state: (UInt64, UInt64, UInt64, UInt64)

  package init() {
    var system = SystemRandomNumberGenerator()
    state = (system.next(), system.next(), system.next(), system.next() | 1)
  }

  package mutating func next() -> UInt64 {
    let result = FastRandom.rotate(state.1 &* 5, 7) &* 9
    let shifted = state.1 << 17
    state.2 ^= state.0
    state.3 ^= state.1
    state.1 ^= state.2
    state.0 ^= state.3
    state.2 ^= shifted
    state.3 = FastRandom.rotate(state.3, 45)
    return result
  }

  @inline(__always)
  private static func rotate(_ value: UInt64, _ count: UInt64) -> UInt64 { value &<< count | value &>> (64 - count) }
}

/// Random numbers from a seed (Steele, Lea and Flood): the same ones on every machine.
package struct SplitMix64: RandomNumberGenerator {
  package var state: UInt64

  package init(state: UInt64) {
    self.state = state
  }

  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = state
    value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
    return value ^ value >> 31
  }
}
