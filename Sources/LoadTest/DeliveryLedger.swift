/// Which pushes were sent, and whether each accepted one arrived exactly once and in order.
///
/// Pushes of one provider to one device are numbered from 0; of different providers nothing is promised. In the common
/// case an arrival compares one number; what is out of line is kept in sets.
package struct DeliveryLedger {
  /// What an arrival means.
  package enum Arrival: Equatable {
    case inOrder
    /// After one that was sent later.
    case reordered
    /// Late, and allowed to be: it was sent again after its connection was lost.
    case lateRetry
    case duplicate
    /// A push that was never sent to this device.
    case misdelivered
  }

  private let deviceCount: Int
  /// For each pair of provider and device, how many were sent.
  private var sent: [UInt32]
  /// For each pair, the number that comes next if all is in order.
  private var next: [UInt32]
  /// Passed over by a later arrival, and still missing.
  private var holes: Set<UInt64> = []
  /// Sent again after a lost connection.
  private var retried: Set<UInt64> = []
  /// Never answered with 200: these need not arrive.
  private var unaccepted: Set<UInt64> = []

  package init(providers: Int, devices: Int) {
    deviceCount = devices
    sent = [UInt32](repeating: 0, count: providers * devices)
    next = sent
  }

  /// The number of the next push of a provider to a device.
  package mutating func send(provider: Int, device: Int) -> UInt32 {
    let pair = provider * deviceCount + device
    let number = sent[pair]
    sent[pair] = number + 1
    return number
  }

  /// A push is sent again with the same `apns-id`.
  package mutating func retry(provider: Int, device: Int, number: UInt32) {
    retried.insert(key(provider * deviceCount + device, number))
  }

  /// A push was refused, or its fate is not known.
  package mutating func refuse(provider: Int, device: Int, number: UInt32) {
    unaccepted.insert(key(provider * deviceCount + device, number))
  }

  /// A push arrived at a device.
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

  /// For each device, how many accepted pushes have not arrived; `isExpected` says whose should have.
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
