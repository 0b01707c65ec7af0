/// A small seeded generator (SplitMix64), so that every run has the same result.
struct Random: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
    return mixed ^ mixed >> 31
  }

  /// Returns a number below `bound`, which is above 0.
  mutating func below(_ bound: Int) -> Int { Int((next() >> 33) % UInt64(bound)) }

  /// Returns true in `part` of `whole` cases.
  mutating func chance(_ part: Int, of whole: Int) -> Bool { below(whole) < part }

  mutating func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }
}
