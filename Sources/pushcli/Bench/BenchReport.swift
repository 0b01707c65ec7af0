import LoadTest

/// What `pushcli bench` prints: the test, its surroundings, what was found, and what that means for the exit code.
struct BenchReport: Encodable {
  /// Where the load went, and on which cores the two sides ran.
  struct Setting: Encodable {
    var gateway: String
    /// Whether the gateway was this command's own.
    var isOwn: Bool
    /// What the own gateway's folder lies on, such as `ext4`; a sync costs nothing on `tmpfs`.
    var storage: String?
    var durability: String?
    /// nil when the two were not pinned.
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

  /// What was asked for.
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

  /// One condition of `--fail-if`.
  struct Verdict: Encodable, Equatable {
    var condition: String
    /// nil: it was not measured.
    var value: Double?
    var failed: Bool
  }

  var setting: Setting
  var workload: Workload
  var result: LoadResult
  var verdicts: [Verdict]

  /// Judges a result: what must never happen always counts, whatever was asked for.
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
