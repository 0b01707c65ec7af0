/// What a load test does. Rates are pushes a second, times seconds, sizes bytes.
public struct LoadPlan: Sendable {
  /// What kind of test it is.
  public enum Kind: Sendable, Equatable {
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

  public var kind = Kind.deliver
  /// Devices that are registered.
  public var devices = 100
  /// Provider connections.
  public var providers = 4
  public var pace = Pace.flatOut
  public var duration = 10.0
  public var warmUp = 1.0
  /// Ends after so many pushes instead of after ``duration``.
  public var pushes: Int?
  public var payloadSize = 200
  /// Requests in flight on each provider connection.
  public var streams = 100
  /// Share of the devices that are registered and not connected, in percent.
  public var offline = 0.0
  /// Share of the connected devices that read only now and then, in percent.
  public var slow = 0.0
  /// Devices that drop and come back each second.
  public var churn = 0.0
  /// `apns-expiration` as seconds from the start; 0 is sent as 0, for pushes that are never stored; nil is not sent.
  public var expiration: Int?
  /// Whether senders choose the `apns-id`, so that they may send again after a lost connection.
  public var hasIDs = false
  /// Event loops of the load side; each has its share of devices, providers and rate.
  public var loops = 1
  /// Whether the devices, and what waits for them, stay at the gateway when the test is over.
  public var keepsDevices = false
  /// After the last push, how long to wait for answers and deliveries while none comes.
  public var patience = 10.0

  /// How fast pushes are sent.
  public enum Pace: Sendable, Equatable {
    case flatOut
    case steady(Double)
    case ramp(from: Double, to: Double)
  }

  public init() {}

  /// Pushes that one loop sends at most: a ``PushMark`` has 32 bits for their numbers.
  public static let maximumPushes = 4_000_000_000

  /// The smallest payload that a test can send.
  public static var minimumPayloadSize: Int { MarkedPayload.minimumSize }

  /// The share of one of the loops.
  func share(_ index: Int, devices mine: Int, providers: Int) -> LoadPlan {
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

  var schedule: SendSchedule {
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
public struct LoadTarget: Sendable {
  public var host: String
  public var port: Int
  /// Certificates to trust.
  public var trustPath: String
  /// The admin socket that enrols devices; nil for a server that is only sent requests.
  public var adminSocket: String?
  public var topic: String
  /// A path to send to instead of `/3/device/<token>`.
  public var path: String?
  /// The value of `authorization` for providers, made anew each time; nil: none is sent.
  public var authorization: (@Sendable () throws -> String)?
  /// The process to measure; nil: the gateway's status says it.
  public var pid: Int32?

  public init(host: String, port: Int, trustPath: String, adminSocket: String?, topic: String) {
    self.host = host
    self.port = port
    self.trustPath = trustPath
    self.adminSocket = adminSocket
    self.topic = topic
  }
}
