/// When each push of a test is to be sent: latency counts from these times, whatever the gateway does meanwhile, so that
/// a gateway that stalls is charged for every push that should have gone out during the stall.
package struct SendSchedule: Sendable {
  /// How fast pushes are sent.
  package enum Pace: Sendable, Equatable {
    /// As fast as answers come: each is intended for the moment it is sent.
    case flatOut
    /// Pushes a second, evenly.
    case steady(Double)
    /// Pushes a second, rising or falling evenly between the two; the first also holds during the warm-up.
    case ramp(from: Double, to: Double)
  }

  package var pace: Pace
  /// Seconds before what is measured.
  package var warmUp: Double
  /// Seconds that are measured.
  package var duration: Double

  /// How many pushes should have been sent `elapsed` seconds after the start.
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

  /// When a push should be sent, in nanoseconds after the start; `number` counts from 0. Not for ``Pace/flatOut``.
  package func intended(_ number: Int) -> UInt64 {
    // A push is due as soon as its whole number is reached.
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
    // A rate that is next to nothing, or comes to nothing, has its next push after any test.
    return UInt64(min(max(0, seconds * 1e9), Double(LoadTag.maximumIntended)))
  }
}
