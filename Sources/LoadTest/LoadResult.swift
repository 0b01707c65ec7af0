/// What a load test found. Latencies are in milliseconds, rates a second, sizes in bytes.
package struct LoadResult: Sendable, Codable, Equatable {
  /// What was sent and what became of it.
  package struct Pushes: Sendable, Codable, Equatable {
    package var sent = 0
    package var accepted = 0
    package var refused = 0
    /// By status and reason.
    package var refusals: [String: Int] = [:]
    /// Their connection was lost before the answer came.
    package var unanswered = 0
    /// Should have been sent, and the gateway left no room for them.
    package var unsent = 0
    /// Sent again with the same `apns-id` after a lost connection.
    package var retried = 0
    /// Accepted for connected devices.
    package var expected = 0
    package var delivered = 0
    package var lost = 0
    package var duplicated = 0
    package var reordered = 0
    package var misdelivered = 0
    /// Not delivered and not promised: driven out by the mailbox's cap, which a `gap` told, or never to be stored.
    package var dropped = 0
    /// Sent to a device that had them already, as after a lost connection; the device drops them.
    package var redelivered = 0

    package init() {}
  }

  /// A process that was measured from outside.
  package struct Process: Sendable, Codable, Equatable {
    package var pid: Int32
    /// CPU seconds from the end of the warm-up to the last delivery.
    package var cpuSeconds: Double
    /// The same for 100,000 pushes accepted in that time.
    package var cpuSecondsPer100000: Double?
    /// Share of one core while it was measured; 1 is a whole core.
    package var cpuShare: Double
    /// Resident memory before devices connected, after, and at the end.
    package var residentBytesBefore: Int
    package var residentBytesConnected: Int
    package var residentBytesAtEnd: Int
    /// What each idle stream added.
    package var residentBytesPerIdleStream: Int?

    package enum CodingKeys: String, CodingKey {
      case pid
      case cpuSeconds = "cpu_seconds"
      case cpuSecondsPer100000 = "cpu_seconds_per_100000"
      case cpuShare = "cpu_share"
      case residentBytesBefore = "resident_bytes_before"
      case residentBytesConnected = "resident_bytes_connected"
      case residentBytesAtEnd = "resident_bytes_at_end"
      case residentBytesPerIdleStream = "resident_bytes_per_idle_stream"
    }

    package init(
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
  package struct Storm: Sendable, Codable, Equatable {
    package var devices: Int
    /// From the drop until every stream was open again, in seconds; nil: it did not come to that.
    package var connectedSeconds: Double?
    /// From the drop until every device was told that nothing waits.
    package var caughtUpSeconds: Double?
    /// Handshakes that resumed a TLS session.
    package var resumed: Int

    package enum CodingKeys: String, CodingKey {
      case devices
      case connectedSeconds = "connected_seconds"
      case caughtUpSeconds = "caught_up_seconds"
      case resumed
    }
  }

  /// One device received what had waited for it.
  package struct CatchUp: Sendable, Codable, Equatable {
    package var pushes: Int
    /// From the connection attempt until the last push.
    package var seconds: Double
    package var pushesPerSecond: Double

    package enum CodingKeys: String, CodingKey {
      case pushes, seconds
      case pushesPerSecond = "pushes_per_second"
    }
  }

  package var pushes = Pushes()
  /// Pushes a second while it was measured.
  package var acceptedPerSecond = 0.0
  package var deliveredPerSecond = 0.0
  /// From the intended time of sending to the answer.
  package var acceptLatency: LatencySummary?
  /// From the intended time of sending to the device.
  package var deliveryLatency: LatencySummary?
  package var seconds: [LoadSecond] = []
  package var gatewayProcess: Process?
  package var loadProcess: Process
  /// Whether the load side was as busy as its loops can be, so that the figures are its own and not the gateway's.
  package var isLoadSaturated = false
  package var storm: Storm?
  package var catchUp: CatchUp?
  package var connectedDevices = 0
  package var connectionsLost = 0
  package var enrollSeconds = 0.0
  package var connectSeconds = 0.0
  package var warmUpSeconds = 0.0
  /// What was measured, and then the wait for the last answers and deliveries.
  package var runSeconds = 0.0
  package var drainSeconds = 0.0
  /// From the first push to the last delivery.
  package var elapsedSeconds = 0.0

  package enum CodingKeys: String, CodingKey {
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
    case enrollSeconds = "enrol_seconds"
    case connectSeconds = "connect_seconds"
    case warmUpSeconds = "warm_up_seconds"
    case runSeconds = "run_seconds"
    case drainSeconds = "drain_seconds"
    case elapsedSeconds = "elapsed_seconds"
  }

  package init(loadProcess: Process) { self.loadProcess = loadProcess }
}
