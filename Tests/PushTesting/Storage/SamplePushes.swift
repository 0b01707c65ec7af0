package import PushCore
package import PushStorage

extension APNSID {
  /// Returns a readable id for a test.
  package static func number(_ number: Int) -> APNSID {
    let digits = String(number, radix: 16)
    let text = "00000000-0000-4000-8000-" + String(repeating: "0", count: 12 - digits.count) + digits
    guard let id = APNSID(text) else { preconditionFailure("not an id: \(text)") }
    return id
  }
}

extension DeviceID: ExpressibleByIntegerLiteral {
  package init(integerLiteral value: Int64) { self.init(row: value) }
}

extension AppID: ExpressibleByIntegerLiteral {
  package init(integerLiteral value: Int64) { self.init(row: value) }
}

/// Returns a push for a test. Without an id it has one of the gateway, which no retry repeats.
package func samplePush(
  _ id: Int? = nil, to device: DeviceID = 1, app: AppID = 1, collapse: String = "", at now: Int64 = TestClock.start,
  lifetime: Int64 = 3600, payload: String = #"{"aps":{"alert":"hello"}}"#
) -> StoredPush {
  var random = SystemRandomNumberGenerator()
  return StoredPush(
    device: device, app: app, id: id.map(APNSID.number) ?? APNSID(using: &random), isSenderID: id != nil,
    uniqueID: APNSID(using: &random), received: now * 1000, expires: now + lifetime, priority: 10,
    collapseID: collapse, payload: Array(payload.utf8))
}

extension AppendOutcome {
  /// The sequence number of the push, if it was queued.
  package var seq: UInt64? {
    guard case .queued(let seq, _) = self else { return nil }
    return seq
  }

  /// The id of the push that this one replaced.
  package var replaced: APNSID? {
    guard case .queued(_, let replaced) = self else { return nil }
    return replaced
  }

  package var isDuplicate: Bool {
    guard case .duplicate = self else { return false }
    return true
  }

  package var isUnavailable: Bool {
    guard case .unavailable = self else { return false }
    return true
  }
}

extension Mailbox {
  /// Appends pushes and waits for their outcomes.
  package func append(_ pushes: [StoredPush]) async -> [AppendOutcome] {
    await withCheckedContinuation { continuation in append(pushes) { continuation.resume(returning: $0) } }
  }

  /// Waits until all earlier operations have been done, because operations keep their order.
  package func settle() async { _ = await append([samplePush(to: DeviceID(row: .max), lifetime: 1)]) }

  /// Returns the sequence numbers of a device's pending pushes.
  package func waiting(_ device: DeviceID = 1, after seq: UInt64 = 0) async throws -> [UInt64] {
    try await pending(for: device, after: seq, limit: .max).entries.map(\.seq)
  }
}
