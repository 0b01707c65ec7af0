import Foundation
import Glibc
import PushCore

/// The resource usage of this process, with the standard metrics of Prometheus.
struct ProcessReadings: Sendable {
  /// The CPU time in seconds, of all cores together.
  var processorSeconds: Double
  var residentSize: UInt64
  var virtualSize: UInt64
  var threads: UInt64
  /// The start time in seconds since 1970.
  var started: Double

  /// Reads `/proc/self/stat` (proc(5)); nil if it can't be read.
  static var now: ProcessReadings? {
    guard let text = ProcFile.text("/proc/self/stat") else { return nil }
    return ProcessReadings(
      stat: text, ticks: Double(sysconf(Int32(_SC_CLK_TCK))), pageSize: UInt64(sysconf(Int32(_SC_PAGESIZE))),
      booted: seconds(of: CLOCK_REALTIME) - seconds(of: CLOCK_BOOTTIME))
  }

  /// - Parameters:
  ///   - stat: the line of `/proc/self/stat`.
  ///   - ticks: the number of its time units per second.
  ///   - booted: the boot time of the system, in seconds since 1970.
  init?(stat: String, ticks: Double, pageSize: UInt64, booted: Double) {
    // A program's name is in parentheses and may contain any character. The fields after it start with the third.
    guard let end = stat.lastIndex(of: ")") else { return nil }
    let fields = stat[stat.index(after: end)...].split(separator: " ")
    func number(_ place: Int) -> UInt64? { place - 3 < fields.count ? UInt64(fields[place - 3]) : nil }
    guard let user = number(14), let system = number(15), let threads = number(20), let started = number(22),
      let virtual = number(23), let resident = number(24)
    else { return nil }
    processorSeconds = Double(user &+ system) / ticks
    self.threads = threads
    self.started = booted + Double(started) / ticks
    virtualSize = virtual
    residentSize = resident &* pageSize
  }

  /// The number of open descriptors; nil if it can't be read.
  static var descriptors: UInt64? {
    var status = stat()
    // Linux 6.2 and later report the number as a size; for earlier ones the names are counted.
    if unsafe stat("/proc/self/fd", &status) == 0, status.st_size > 0 { return UInt64(status.st_size) }
    guard let names = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") else { return nil }
    // One of them was opened for this listing.
    return UInt64(max(0, names.count - 1))
  }

  /// The maximum number of open descriptors.
  static var maximumDescriptors: UInt64? {
    var limit = rlimit()
    return unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 ? UInt64(limit.rlim_cur) : nil
  }

  private static func seconds(of clock: clockid_t) -> Double {
    var time = timespec()
    unsafe clock_gettime(clock, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
}
