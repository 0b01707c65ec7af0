/// The record of the sent pushes, which verifies that each accepted push arrives exactly once and in order.
///
/// The pushes from one provider to one device are numbered from 0. Pushes of different providers have no guaranteed
/// order. For an arrival in order, one comparison of numbers suffices; only pushes out of order are stored in sets.
package struct DeliveryLedger {
  /// The classification of one arrival.
  package enum Arrival: Equatable {
    case inOrder
    /// The push arrived after a push that was sent later.
    case reordered
    /// The push arrived late, which is permitted: it was sent again after its connection was lost.
    case lateRetry
    case duplicate
    /// The push was never sent to this device.
    case misdelivered
  }

  private let deviceCount: Int
  /// The number of pushes sent, for each pair of provider and device.
  private var sent: [UInt32]
  /// The number of the next push in order, for each pair of provider and device.
  private var next: [UInt32]
  /// The keys of missing pushes: a push with a higher number has arrived already.
  private var holes: Set<UInt64> = []
  /// The keys of the pushes that were sent again after a lost connection.
  private var retried: Set<UInt64> = []
  /// The keys of the pushes that were never answered with 200; they need not arrive.
  private var unaccepted: Set<UInt64> = []

  package init(providers: Int, devices: Int) {
    deviceCount = devices
    sent = [UInt32](repeating: 0, count: providers * devices)
    next = sent
  }

  /// Counts one more push of a provider to a device and returns its number.
  package mutating func send(provider: Int, device: Int) -> UInt32 {
    let pair = provider * deviceCount + device
    let number = sent[pair]
    sent[pair] = number + 1
    return number
  }

  /// Records that a push is sent again with the same `apns-id`.
  package mutating func retry(provider: Int, device: Int, number: UInt32) {
    retried.insert(key(provider * deviceCount + device, number))
  }

  /// Records that a push was refused or that its outcome is unknown.
  package mutating func refuse(provider: Int, device: Int, number: UInt32) {
    unaccepted.insert(key(provider * deviceCount + device, number))
  }

  /// Records the arrival of a push at a device and classifies it.
  package mutating func arrive(provider: Int, device: Int, number: UInt32) -> Arrival {
    let pair = provider * deviceCount + device
    guard device < deviceCount, pair < sent.count, number < sent[pair] else { return .misdelivered }
    let expected = next[pair]
    if number == expected {
      next[pair] = expected + 1
      return .inOrder
    }
    if number > expected {
      for missing in expected..<number { holes.insert(key(pair, missing)) }
      next[pair] = number + 1
      return .inOrder
    }
    guard holes.remove(key(pair, number)) != nil else { return .duplicate }
    return retried.contains(key(pair, number)) ? .lateRetry : .reordered
  }

  /// Returns the number of accepted pushes that have not arrived, by device index.
  ///
  /// - Parameter isExpected: returns true for the index of each device whose pushes should have arrived.
  package func missing(where isExpected: (Int) -> Bool) -> [Int: Int] {
    var missing: [Int: Int] = [:]
    for hole in holes where !unaccepted.contains(hole) {
      let device = Int(hole >> 32) % deviceCount
      if isExpected(device) { missing[device, default: 0] += 1 }
    }
    for pair in sent.indices where next[pair] < sent[pair] {
      let device = pair % deviceCount
      guard isExpected(device) else { continue }
      for number in next[pair]..<sent[pair] where !unaccepted.contains(key(pair, number)) {
        missing[device, default: 0] += 1
      }
    }
    return missing
  }

  private func key(_ pair: Int, _ number: UInt32) -> UInt64 { UInt64(pair) << 32 | UInt64(number) }
}
