/// What a load test found. Latencies are in milliseconds, rates a second, sizes in bytes.
public struct LoadResult: Sendable, Codable, Equatable {
  /// What was sent and what became of it.
  public struct Pushes: Sendable, Codable, Equatable {
    public var sent = 0
    public var accepted = 0
    public var refused = 0
    /// By status and reason.
    public var refusals: [String: Int] = [:]
    /// Their connection was lost before the answer came.
    public var unanswered = 0
    /// Should have been sent, and the gateway left no room for them.
    public var unsent = 0
    /// Sent again with the same `apns-id` after a lost connection.
    public var retried = 0
    /// Accepted for connected devices.
    public var expected = 0
    public var delivered = 0
    public var lost = 0
    public var duplicated = 0
    public var reordered = 0
    public var misdelivered = 0
    /// Not delivered and not promised: driven out by the mailbox's cap, which a `gap` told, or never to be stored.
    public var dropped = 0
    /// Sent to a device that had them already, as after a lost connection; the device drops them.
    public var redelivered = 0

    public init() {}
  }

  /// A process that was measured from outside.
  public struct Process: Sendable, Codable, Equatable {
    public var pid: Int32
    /// CPU seconds from the end of the warm-up to the last delivery.
    public var cpuSeconds: Double
    /// The same for 100,000 pushes accepted in that time.
    public var cpuSecondsPer100000: Double?
    /// Share of one core while it was measured; 1 is a whole core.
    public var cpuShare: Double
    /// Resident memory before devices connected, after, and at the end.
    public var residentBytesBefore: Int
    public var residentBytesConnected: Int
    public var residentBytesAtEnd: Int
    /// What each idle stream added.
    public var residentBytesPerIdleStream: Int?

    enum CodingKeys: String, CodingKey {
      case pid
      case cpuSeconds = "cpu_seconds"
      case cpuSecondsPer100000 = "cpu_seconds_per_100000"
      case cpuShare = "cpu_share"
      case residentBytesBefore = "resident_bytes_before"
      case residentBytesConnected = "resident_bytes_connected"
      case residentBytesAtEnd = "resident_bytes_at_end"
      case residentBytesPerIdleStream = "resident_bytes_per_idle_stream"
    }

    public init(
      pid: Int32, cpuSeconds: Double, cpuSecondsPer100000: Double?, cpuShare: Double, residentBytesBefore: Int,
      residentBytesConnected: Int, residentBytesAtEnd: Int, residentBytesPerIdleStream: Int?
    ) {
      self.pid = pid
      self.cpuSeconds = cpuSeconds
      self.cpuSecondsPer100000 = cpuSecondsPer100000
      self.cpuShare = cpuShare
      self.residentBytesBefore = residentBytesBefore
      self.residentBytesConnected = residentBytesConnected
      self.residentBytesAtEnd = residentBytesAtEnd
      self.residentBytesPerIdleStream = residentBytesPerIdleStream
    }
  }

  /// All devices dropped and came back.
  public struct Storm: Sendable, Codable, Equatable {
    public var devices: Int
    /// From the drop until every stream was open again, in seconds; nil: it did not come to that.
    public var connectedSeconds: Double?
    /// From the drop until every device was told that nothing waits.
    public var caughtUpSeconds: Double?
    /// Handshakes that resumed a TLS session.
    public var resumed: Int

    enum CodingKeys: String, CodingKey {
      case devices
      case connectedSeconds = "connected_seconds"
      case caughtUpSeconds = "caught_up_seconds"
      case resumed
    }
  }

  /// One device received what had waited for it.
  public struct CatchUp: Sendable, Codable, Equatable {
    public var pushes: Int
    /// From the connection attempt until the last push.
    public var seconds: Double
    public var pushesPerSecond: Double

    enum CodingKeys: String, CodingKey {
      case pushes, seconds
      case pushesPerSecond = "pushes_per_second"
    }
  }

  public var pushes = Pushes()
  /// Pushes a second while it was measured.
  public var acceptedPerSecond = 0.0
  public var deliveredPerSecond = 0.0
  /// From the intended time of sending to the answer.
  public var acceptLatency: LatencySummary?
  /// From the intended time of sending to the device.
  public var deliveryLatency: LatencySummary?
  public var seconds: [LoadSecond] = []
  public var gatewayProcess: Process?
  public var loadProcess: Process
  /// Whether the load side was as busy as its loops can be, so that the figures are its own and not the gateway's.
  public var isLoadSaturated = false
  public var storm: Storm?
  public var catchUp: CatchUp?
  public var connectedDevices = 0
  public var connectionsLost = 0
  public var enrolSeconds = 0.0
  public var connectSeconds = 0.0
  public var warmUpSeconds = 0.0
  /// What was measured, and then the wait for the last answers and deliveries.
  public var runSeconds = 0.0
  public var drainSeconds = 0.0
  /// From the first push to the last delivery.
  public var elapsedSeconds = 0.0

  enum CodingKeys: String, CodingKey {
    case pushes, seconds, storm
    case acceptedPerSecond = "accepted_per_second"
    case deliveredPerSecond = "delivered_per_second"
    case acceptLatency = "accept_latency_ms"
    case deliveryLatency = "delivery_latency_ms"
    case gatewayProcess = "gateway_process"
    case loadProcess = "load_process"
    case isLoadSaturated = "load_saturated"
    case catchUp = "catch_up"
    case connectedDevices = "connected_devices"
    case connectionsLost = "connections_lost"
    case enrolSeconds = "enrol_seconds"
    case connectSeconds = "connect_seconds"
    case warmUpSeconds = "warm_up_seconds"
    case runSeconds = "run_seconds"
    case drainSeconds = "drain_seconds"
    case elapsedSeconds = "elapsed_seconds"
  }

  public init(loadProcess: Process) { self.loadProcess = loadProcess }
}
