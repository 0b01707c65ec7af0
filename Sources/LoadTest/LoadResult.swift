/// The result of a load test. Latencies are in milliseconds, rates per second, sizes in bytes.
package struct LoadResult: Sendable, Codable, Equatable {
  /// The numbers of sent pushes, by outcome.
  package struct Pushes: Sendable, Codable, Equatable {
    package var sent = 0
    package var accepted = 0
    package var refused = 0
    /// The refusals by status and reason.
    package var refusals: [String: Int] = [:]
    /// Pushes whose connection was lost before the answer.
    package var unanswered = 0
    /// Due pushes that could not be sent, because the gateway granted no capacity.
    package var unsent = 0
    /// Pushes sent again with the same `apns-id` after a lost connection.
    package var retried = 0
    /// Pushes accepted for connected devices.
    package var expected = 0
    package var delivered = 0
    package var lost = 0
    package var duplicated = 0
    package var reordered = 0
    package var misdelivered = 0
    /// Pushes that were not delivered and have no guarantee: evicted by the mailbox's limit, as a `gap` reported, or
    /// never stored.
    package var dropped = 0
    /// Pushes sent to a device that had already received them, as after a lost connection; the device drops them.
    package var redelivered = 0

    mutating func add(_ other: Pushes) {
      sent += other.sent
      accepted += other.accepted
      refusals.merge(other.refusals, uniquingKeysWith: +)
      unanswered += other.unanswered
      retried += other.retried
      expected += other.expected
      delivered += other.delivered
      duplicated += other.duplicated
      reordered += other.reordered
      misdelivered += other.misdelivered
      redelivered += other.redelivered
    }
  }

  /// The resource use of a process, measured from outside.
  package struct Process: Sendable, Codable, Equatable {
    package var pid: Int32
    /// The CPU seconds from the end of the warm-up to the last delivery.
    package var cpuSeconds: Double
    /// The CPU seconds for each 100,000 pushes accepted in that time.
    package var cpuSecondsPer100000: Double?
    /// The share of one core during the measurement; 1 is a whole core.
    package var cpuShare: Double
    /// The resident memory before devices connected, after they connected, and at the end.
    package var residentBytesBefore: Int
    package var residentBytesConnected: Int
    package var residentBytesAtEnd: Int
    /// The resident memory that each idle stream added.
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
  }

  /// The times of a reconnection storm, in which all devices disconnect and reconnect.
  package struct Storm: Sendable, Codable, Equatable {
    package var devices: Int
    /// The seconds from the disconnection until every stream was open again; nil if that was not reached.
    package var connectedSeconds: Double?
    /// The seconds from the disconnection until the gateway had reported to every device that no pushes are pending.
    package var caughtUpSeconds: Double?
    /// The number of handshakes that resumed a TLS session.
    package var resumed: Int

    package enum CodingKeys: String, CodingKey {
      case devices
      case connectedSeconds = "connected_seconds"
      case caughtUpSeconds = "caught_up_seconds"
      case resumed
    }
  }

  /// The times of the delivery of pending pushes to one device.
  package struct CatchUp: Sendable, Codable, Equatable {
    package var pushes: Int
    /// The seconds from the connection attempt to the last push.
    package var seconds: Double
    package var pushesPerSecond: Double

    package enum CodingKeys: String, CodingKey {
      case pushes, seconds
      case pushesPerSecond = "pushes_per_second"
    }
  }

  package var pushes = Pushes()
  /// The pushes per second during the measurement.
  package var acceptedPerSecond = 0.0
  package var deliveredPerSecond = 0.0
  /// The latency from the intended time of sending to the answer.
  package var acceptLatency: LatencySummary?
  /// The latency from the intended time of sending to the arrival at the device.
  package var deliveryLatency: LatencySummary?
  package var seconds: [LoadSecond] = []
  package var gatewayProcess: Process?
  package var loadProcess: Process
  /// True if the load side was at saturation: the figures are then those of the load side, not of the gateway.
  package var isLoadSaturated = false
  package var storm: Storm?
  package var catchUp: CatchUp?
  package var connectedDevices = 0
  package var connectionsLost = 0
  package var enrollSeconds = 0.0
  package var connectSeconds = 0.0
  package var warmUpSeconds = 0.0
  /// The measured seconds; the wait for the last answers and deliveries follows as ``drainSeconds``.
  package var runSeconds = 0.0
  package var drainSeconds = 0.0
  /// The seconds from the first push to the last delivery.
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
    case enrollSeconds = "enroll_seconds"
    case connectSeconds = "connect_seconds"
    case warmUpSeconds = "warm_up_seconds"
    case runSeconds = "run_seconds"
    case drainSeconds = "drain_seconds"
    case elapsedSeconds = "elapsed_seconds"
  }
}
