import Foundation
import Glibc

/// The cost of a repeated operation.
struct Measurement: Sendable {
  /// The number of repetitions.
  var count: Int
  var seconds = 0.0
  /// Processor time of all gateways together, without HTTP.
  var gatewaySeconds = 0.0
  /// Processor time of the modeled brokers.
  var modelSeconds = 0.0
  /// The growth of the process, in bytes.
  var memory = 0
  var traffic = Traffic()

  /// Processor time of a gateway per repetition, in microseconds.
  var microseconds: Double { gatewaySeconds * 1e6 / Double(max(1, count)) }

  func each(_ kind: Traffic.Kind) -> Traffic.Count { traffic[kind] }
  /// Returns the share of one repetition in a total.
  func each(_ number: Int) -> Double { Double(number) / Double(max(1, count)) }
}

/// Returns the processor time of this process, in seconds.
func processSeconds() -> Double {
  var time = timespec()
  _ = unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

/// Returns the resident memory of this process, in bytes.
func residentSize() -> Int {
  let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
  let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
  return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
}
