import Glibc

/// Returns unpredictable random bytes: for secrets, tokens, serial numbers.
package func randomBytes(count: Int) -> [UInt8] {
  var system = SystemRandomNumberGenerator()
  return (0..<count).map { _ in UInt8.random(in: 0 ... .max, using: &system) }
}

/// Returns an unpredictable UUID (version 4) in upper case.
///
/// Foundation's UUID comes from /dev/urandom; without that device it is all zeros, and no error is reported.
package func randomUUID() -> String {
  var system = SystemRandomNumberGenerator()
  return APNSID(using: &system).description
}

/// A generator of unpredictable random numbers for identifiers that are made in large numbers.
///
/// It fetches some hundred numbers at a time from the system, and returns each once. A value belongs to one thread.
package struct BufferedRandom: RandomNumberGenerator {
  private var numbers: [UInt64]
  private var index: Int

  /// - Parameter count: the number of random numbers that are fetched at a time.
  package init(count: Int = 512) {
    precondition(count > 0, "a buffer holds a number")
    numbers = [UInt64](repeating: 0, count: count)
    index = count
  }

  package mutating func next() -> UInt64 {
    if index == numbers.count { fill() }
    defer { index += 1 }
    return numbers[index]
  }

  private mutating func fill() {
    unsafe numbers.withUnsafeMutableBytes { bytes in unsafe arc4random_buf(bytes.baseAddress!, bytes.count) }
    index = 0
  }
}

/// A generator of random numbers from a seed (Steele, Lea and Flood): the same numbers on every machine.
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
