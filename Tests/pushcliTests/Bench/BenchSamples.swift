@testable import LoadTest
@testable import pushcli

/// An example of a result.
enum BenchSamples {
  static var result: LoadResult {
    var result = LoadResult(loadProcess: process(pid: 2, share: 0.4, streams: nil))
    result.pushes.sent = 2010
    result.pushes.accepted = 2000
    result.pushes.refused = 10
    result.pushes.refusals = ["429 TooManyRequests": 10]
    result.pushes.expected = 2000
    result.pushes.delivered = 2000
    result.acceptedPerSecond = 1000
    result.deliveredPerSecond = 990
    result.acceptLatency = LatencySummary(p50: 1, p90: 2, p99: 5, p999: 6, max: 7, mean: 1.5, count: 2000)
    result.deliveryLatency = LatencySummary(p50: 2, p90: 3, p99: 9, p999: 11, max: 12.345, mean: 2.5, count: 2000)
    result.seconds = [
      LoadSecond(second: 0, sent: 900, accepted: 890, delivered: 880),
      LoadSecond(second: 1, sent: 1110, accepted: 1110, delivered: 1120),
    ]
    result.gatewayProcess = process(pid: 1, share: 0.97, streams: 40_000)
    result.connectedDevices = 10
    return result
  }

  static var setting: BenchReport.Setting {
    .init(
      gateway: "127.0.0.1:2197", isOwn: true, storage: "ext4", durability: "full",
      cores: .init(gateway: [0], load: [1]))
  }

  static var workload: BenchReport.Workload {
    .init(
      kind: "deliver", devices: 10, providers: 4, rate: "max", durationSeconds: 2, payloadBytes: 200, streams: 100,
      offlinePercent: 0, slowPercent: 0, expiration: nil)
  }

  static func report(_ result: LoadResult = result, _ thresholds: [Threshold] = []) -> BenchReport {
    BenchReport(setting: setting, workload: workload, result: result, thresholds: thresholds)
  }

  private static func process(pid: Int32, share: Double, streams: Int?) -> LoadResult.Process {
    .init(
      pid: pid, cpuSeconds: 0.05, cpuSecondsPer100000: 2.5, cpuShare: share, residentBytesBefore: 50 << 20,
      residentBytesConnected: 60 << 20, residentBytesAtEnd: 64 << 20, residentBytesPerIdleStream: streams)
  }
}
