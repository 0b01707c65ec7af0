/// The intended times of sending of all pushes of a test. Latency counts from these times, independent of the gateway's
/// state: a stall counts in the latency of every push with an intended time during the stall.
extension LoadPlan {
  /// Returns the number of due pushes `elapsed` seconds after the start.
  package func due(at elapsed: Double) -> Int {
    let elapsed = min(max(0, elapsed), warmUp + duration)
    switch pace {
    case .flatOut: return .max
    case .steady(let rate): return Int(elapsed * rate)
    case .ramp(let from, let to):
      let measured = max(0, elapsed - warmUp)
      return Int(from * elapsed + (to - from) / (2 * duration) * measured * measured)
    }
  }

  /// Returns the intended time of a push, in nanoseconds after the start; `number` counts from 0. Not for
  /// ``Pace/flatOut``.
  package func intended(_ number: Int) -> UInt64 {
    // A push becomes due as soon as its whole number is reached.
    let count = Double(number + 1)
    let seconds: Double
    switch pace {
    case .flatOut: return 0
    case .steady(let rate): seconds = count / rate
    case .ramp(let from, let to):
      let rest = count - from * warmUp
      let bend = (to - from) / duration
      if rest <= 0 {
        seconds = count / from
      } else if bend == 0 {
        seconds = warmUp + rest / from
      } else {
        seconds = warmUp + ((from * from + 2 * bend * rest).squareRoot() - from) / bend
      }
    }
    // With a rate at or near 0, the next push becomes due after the end of any test.
    return UInt64(min(max(0, seconds * 1e9), Double(LoadTag.maximumIntended)))
  }
}
