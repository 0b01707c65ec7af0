package import GatewayProtocol
import PushCore

/// The parameters of a load test. Rates are in pushes per second, times in seconds, sizes in bytes.
package struct LoadPlan: Sendable {
  /// The kind of a load test.
  package enum Kind: Sendable, Equatable {
    /// Sends pushes to connected devices, which receive and acknowledge them.
    case deliver
    /// Sends requests only and connects no device; the target can be any HTTP/2 server.
    case accept
    /// Disconnects all devices halfway through the test; they reconnect at once.
    case storm
    /// Queues the given number of pushes for one device, which then connects.
    case catchUp(Int)
    /// Connects devices and sends nothing.
    case idle
  }

  package var kind = Kind.deliver
  /// The number of registered devices.
  package var devices = 100
  /// The number of provider connections.
  package var providers = 4
  package var pace = Pace.flatOut
  /// The seconds of the measurement, and those before it.
  package var duration = 10.0
  package var warmUp = 1.0
  /// The number of pushes after which the test ends; nil if it ends after ``duration``.
  package var pushes: Int?
  package var payloadSize = 200
  /// The maximum number of requests in flight on each provider connection.
  package var streams = 100
  /// The percentage of the devices that are registered and not connected.
  package var offline = 0.0
  /// The percentage of the connected devices that read only at intervals.
  package var slow = 0.0
  /// The number of devices that disconnect and reconnect each second.
  package var churn = 0.0
  /// The time of `apns-expiration` in seconds from the start. With 0, 0 is sent, for pushes that are never stored; with
  /// nil, the field is absent.
  package var expiration: Int?
  /// True if senders choose the `apns-id`, so that they can send a push again after a lost connection.
  package var hasIDs = false
  /// The number of event loops of the load side; each has its share of devices, providers and rate.
  package var loops = 1
  /// True if the devices and their pending pushes stay at the gateway after the test.
  package var keepsDevices = false
  /// The time in seconds after the last push that the test waits without an answer or a delivery.
  package var silenceLimit = 10.0

  /// The rate at which pushes are sent.
  package enum Pace: Sendable, Equatable {
    /// As fast as answers arrive: the intended time of each push is the moment of sending.
    case flatOut
    /// A constant rate in pushes per second.
    case steady(Double)
    /// A rate in pushes per second that changes linearly from the first value to the second; the first also holds
    /// during the warm-up.
    case ramp(from: Double, to: Double)
  }

  package init() {}

  /// The maximum number of pushes that one loop sends: the number in a ``LoadTag`` has 32 bits.
  package static let maximumPushes = 4_000_000_000

  /// The size in bytes of the smallest payload that a test can send.
  package static var minimumPayloadSize: Int { MarkedPayload.minimumSize }

  /// Returns the plan of one loop, with its share of devices, providers and rate.
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
}

/// The target of a load test and the credentials for it.
package struct LoadTarget: Sendable {
  /// The gateways, at least one; providers and devices are assigned to them round-robin.
  package var addresses: [GatewayAddress]
  package var trustPath: String
  /// The path of the admin socket that enrolls devices; nil for a target that only receives requests.
  package var adminSocket: String?
  package var topic: String
  /// The path to send to instead of `/3/device/<token>`.
  package var path: String?
  /// Returns a newly made value of `authorization` for providers; nil if none is sent.
  package var authorization: (@Sendable () throws -> String)?
  /// The process to measure; nil to take the process ID from the gateway's status.
  package var pid: Int32?

  package init(addresses: [GatewayAddress], trustPath: String, adminSocket: String?, topic: String) {
    precondition(!addresses.isEmpty, "a load test has a gateway")
    self.addresses = addresses
    self.trustPath = trustPath
    self.adminSocket = adminSocket
    self.topic = topic
  }

  /// Returns the index in ``addresses`` for a provider or a device.
  package func addressIndex(of index: Int) -> Int { index % addresses.count }

  /// Returns the reason for which an address can't be connected to.
  func reason(of error: any Error, at addressIndex: Int) -> String {
    let address = addresses[addressIndex].description
    return error is TLSError ? "\(address): \(error)" : "nothing answers at \(address): is the gateway running?"
  }
}
