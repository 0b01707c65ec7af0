import Foundation
import Glibc

/// What something cost.
struct Measurement: Sendable {
  /// How often it was done.
  var count: Int
  var seconds = 0.0
  /// Of a processor, at all gateways together: what runs below HTTP.
  var gatewaySeconds = 0.0
  /// Of a processor, in the model of the brokers.
  var modelSeconds = 0.0
  /// How much larger the process became, in bytes.
  var memory = 0
  var traffic = Traffic()

  /// Microseconds of a gateway's processor for one.
  var microseconds: Double { gatewaySeconds * 1e6 / Double(max(1, count)) }

  func each(_ kind: Traffic.Kind) -> Traffic.Count { traffic[kind] }
  /// Of a number for all, what it is for one.
  func each(_ number: Int) -> Double { Double(number) / Double(max(1, count)) }
}

/// Seconds of a processor that this process has taken.
func processSeconds() -> Double {
  var time = timespec()
  _ = unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

/// The memory that this process has now, in bytes.
func residentSize() -> Int {
  let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
  let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
  return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
}
