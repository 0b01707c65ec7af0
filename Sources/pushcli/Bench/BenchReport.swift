import LoadTest

/// The report of `pushcli bench`: the test, its environment, its result, and the verdicts that determine the exit code.
struct BenchReport: Encodable {
  /// The target of the load and the environment of the test.
  struct Setting: Encodable {
    var gateway: String
    /// True if this command started the gateway.
    var isOwn: Bool
    /// The file system of the started gateway's folder, such as `ext4`; on `tmpfs` a sync costs nothing.
    var storage: String?
    var durability: String?
    /// The cores of the two sides; nil if they were not pinned.
    var cores: Cores?

    struct Cores: Encodable, Equatable {
      var gateway: [Int]
      var load: [Int]
    }

    enum CodingKeys: String, CodingKey {
      case gateway, storage, durability, cores
      case isOwn = "own_gateway"
    }
  }

  struct Workload: Encodable {
    var kind: String
    var devices: Int
    var providers: Int
    var rate: String
    var durationSeconds: Double
    var payloadBytes: Int
    var streams: Int
    var offlinePercent: Double
    var slowPercent: Double
    var expiration: Int?

    enum CodingKeys: String, CodingKey {
      case kind, devices, providers, rate, streams, expiration
      case durationSeconds = "duration_seconds"
      case payloadBytes = "payload_bytes"
      case offlinePercent = "offline_percent"
      case slowPercent = "slow_percent"
    }
  }

  /// The verdict on one condition of `--fail-if`.
  struct Verdict: Encodable, Equatable {
    var condition: String
    /// The measured value; nil if it was not measured.
    var value: Double?
    var failed: Bool
  }

  var setting: Setting
  var workload: Workload
  var result: LoadResult
  var verdicts: [Verdict]

  /// Judges a result by the thresholds. Faults that must never happen always count, even without a threshold.
  init(setting: Setting, workload: Workload, result: LoadResult, thresholds: [Threshold]) {
    self.setting = setting
    self.workload = workload
    self.result = result
    verdicts = thresholds.map { threshold in
      let value = threshold.metric.value(in: result)
      return Verdict(condition: threshold.text, value: value, failed: threshold.isMet(by: value))
    }
    let pushes = result.pushes
    for (name, count) in [
      ("lost", pushes.lost), ("duplicated", pushes.duplicated), ("reordered", pushes.reordered),
      ("misdelivered", pushes.misdelivered),
    ] where count > 0 && !thresholds.contains(where: { $0.metric.rawValue == name }) {
      verdicts.append(Verdict(condition: "\(name)>0", value: Double(count), failed: true))
    }
  }

  var hasFailed: Bool { verdicts.contains(where: \.failed) }

  enum CodingKeys: String, CodingKey { case setting, workload, verdicts, failed }

  func encode(to encoder: any Encoder) throws {
    try result.encode(to: encoder)
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(setting, forKey: .setting)
    try values.encode(workload, forKey: .workload)
    try values.encode(verdicts, forKey: .verdicts)
    try values.encode(hasFailed, forKey: .failed)
  }
}
