import Glibc

/// Bytes nobody can guess: of secrets, tokens, serial numbers.
package func randomBytes(count: Int) -> [UInt8] {
  var system = SystemRandomNumberGenerator()
  return (0..<count).map { _ in UInt8.random(in: 0 ... .max, using: &system) }
}

/// A UUID (version 4) that nobody can guess, in upper case.
///
/// Foundation's comes from /dev/urandom and is nothing but zeros where that is not there, without a word.
package func randomUUID() -> String {
  var system = SystemRandomNumberGenerator()
  return APNSID(using: &system).description
}

/// Numbers nobody can guess, for identifiers of which many are made: the system's generator is asked for some hundred at a
/// time. Each is given out once. Belongs to one thread.
package struct BufferedRandom: RandomNumberGenerator {
  private var numbers: [UInt64]
  private var index: Int

  /// - Parameter count: how many numbers are fetched at a time.
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
    unsafe numbers.withUnsafeMutableBytes { bytes in
      // The system gives out at most 256 bytes at once.
      for start in stride(from: 0, to: bytes.count, by: 256) {
        let piece = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[start..<min(start + 256, bytes.count)])
        guard unsafe getentropy(piece.baseAddress!, piece.count) == 0 else {
          fatalError("the system has no random numbers: \(errno)")
        }
      }
    }
    index = 0
  }
}

/// Random numbers for what need be neither unique nor secret (xoshiro256**, Blackman and Vigna).
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
