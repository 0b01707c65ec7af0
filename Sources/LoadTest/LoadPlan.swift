/// What a load test does. Rates are pushes a second, times seconds, sizes bytes.
package struct LoadPlan: Sendable {
  /// What kind of test it is.
  package enum Kind: Sendable, Equatable {
    /// Pushes to connected devices, sent, delivered and acknowledged.
    case deliver
    /// Only requests are sent, and no device is connected; any HTTP/2 server can be the target.
    case accept
    /// Half-way through, all devices drop and come back at once.
    case storm
    /// So many pushes wait for one device, which then connects.
    case catchUp(Int)
    /// Devices are connected, and nothing is sent.
    case idle
  }

  package var kind = Kind.deliver
  /// Devices that are registered.
  package var devices = 100
  /// Provider connections.
  package var providers = 4
  package var pace = Pace.flatOut
  package var duration = 10.0
  package var warmUp = 1.0
  /// Ends after so many pushes instead of after ``duration``.
  package var pushes: Int?
  package var payloadSize = 200
  /// Requests in flight on each provider connection.
  package var streams = 100
  /// Share of the devices that are registered and not connected, in percent.
  package var offline = 0.0
  /// Share of the connected devices that read only now and then, in percent.
  package var slow = 0.0
  /// Devices that drop and come back each second.
  package var churn = 0.0
  /// `apns-expiration` as seconds from the start; 0 is sent as 0, for pushes that are never stored; nil is not sent.
  package var expiration: Int?
  /// Whether senders choose the `apns-id`, so that they may send again after a lost connection.
  package var hasIDs = false
  /// Event loops of the load side; each has its share of devices, providers and rate.
  package var loops = 1
  /// Whether the devices, and what waits for them, stay at the gateway when the test is over.
  package var keepsDevices = false
  /// After the last push, how long to wait for answers and deliveries while none comes.
  package var silenceLimit = 10.0

  /// How fast pushes are sent.
  package enum Pace: Sendable, Equatable {
    case flatOut
    case steady(Double)
    case ramp(from: Double, to: Double)
  }

  package init() {}

  /// Pushes that one loop sends at most: a ``LoadTag`` has 32 bits for their numbers.
  package static let maximumPushes = 4_000_000_000

  /// The smallest payload that a test can send.
  package static var minimumPayloadSize: Int { MarkedPayload.minimumSize }

  /// The share of one of the loops.
  package func share(_ index: Int, devices mine: Int, providers: Int) -> LoadPlan {
    var plan = self
    plan.devices = mine
    plan.providers = providers
    let part = Double(mine) / Double(max(1, devices))
    switch pace {
    case .flatOut: break
    case .steady(let rate): plan.pace = .steady(rate * part)
    case .ramp(let from, let to): plan.pace = .ramp(from: from * part, to: to * part)
    }
    plan.churn = churn * part
    plan.pushes = pushes.map { $0 * (index + 1) / loops - $0 * index / loops }
    return plan
  }

  package var schedule: SendSchedule {
    let pace: SendSchedule.Pace =
      switch self.pace {
      case .flatOut: .flatOut
      case .steady(let rate): .steady(rate)
      case .ramp(let from, let to): .ramp(from: from, to: to)
      }
    return SendSchedule(pace: pace, warmUp: warmUp, duration: duration)
  }
}

/// Where a load test sends, and as whom.
package struct LoadTarget: Sendable {
  /// Where a gateway is reached.
  package struct Place: Sendable, Equatable {
    package var host: String
    package var port: Int

    package init(host: String, port: Int) { (self.host, self.port) = (host, port) }

    /// As the field `:authority` has it.
    package var authority: String { "\(host):\(port)" }
  }

  /// The gateways, at least one: providers and devices take them in turn.
  package var places: [Place]
  /// Certificates to trust.
  package var trustPath: String
  /// The admin socket that enrolls devices; nil for a server that is only sent requests.
  package var adminSocket: String?
  package var topic: String
  /// A path to send to instead of `/3/device/<token>`.
  package var path: String?
  /// The value of `authorization` for providers, made anew each time; nil: none is sent.
  package var authorization: (@Sendable () throws -> String)?
  /// The process to measure; nil: the gateway's status says it.
  package var pid: Int32?

  package init(places: [Place], trustPath: String, adminSocket: String?, topic: String) {
    precondition(!places.isEmpty, "a load test has a gateway")
    self.places = places
    self.trustPath = trustPath
    self.adminSocket = adminSocket
    self.topic = topic
  }

  /// Which of ``places`` a provider or a device takes.
  package func place(of index: Int) -> Int { index % places.count }
}
