import NATSClient
import PushCore

/// The names of streams and subjects of a cluster's mailboxes.
///
/// A device belongs to one stream permanently, and has one subject in it: its pushes have the stream's
/// sequence numbers.
struct MailboxStreams: Sendable {
  let partitions: Int

  init(partitions: Int) { self.partitions = max(1, partitions) }

  func partition(of device: DeviceID) -> Int {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for digit in String(device.row).utf8 { hash = (hash ^ UInt64(digit)) &* 0x100_0000_01b3 }
    return Int(hash % UInt64(partitions))
  }

  func stream(_ partition: Int) -> String { "MB_" + MailboxStreams.digits(partition) }
  func stream(of device: DeviceID) -> String { stream(partition(of: device)) }

  func pushes(of device: DeviceID) -> String { subject("mb", device) }
  /// Returns the subject of the pushes of all devices of a stream.
  func pushes(in partition: Int) -> String { "mb.\(MailboxStreams.digits(partition)).*" }
  func live(of device: DeviceID) -> String { subject("live", device) }
  /// Returns the subject of the gap of evicted pushes.
  func gap(of device: DeviceID) -> String { subject("box", device) }

  /// Returns the subject to which a gateway writes the ids of pushes that have left; `*` matches all gateways.
  func left(_ partition: Int, by gateway: String) -> String {
    "slot.\(MailboxStreams.digits(partition)).left.\(gateway)"
  }

  /// The subject of the ids of all streams and gateways.
  static let leftAnywhere = "slot.*.left.*"

  /// Returns the subject of the mark that is stored before a complete read of a stream, and before pending pushes are
  /// delivered.
  func mark(_ partition: Int) -> String { "slot.\(MailboxStreams.digits(partition)).mark" }

  /// The content of a message in a stream.
  enum Content {
    case push(DeviceID)
    case gap(DeviceID)
  }

  /// Returns the content of messages of a subject.
  ///
  /// - Returns: nil for neither a push nor a gap.
  func content(of subject: String) -> Content? {
    let parts = subject.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, let row = Int64(parts[2]) else { return nil }
    return switch parts[0] {
    case "mb": .push(DeviceID(row: row))
    case "box": .gap(DeviceID(row: row))
    default: nil
    }
  }

  /// Returns the subject of the last push of a collapse id.
  func slot(of device: DeviceID, app: AppID, collapseID: String) -> String {
    let name = Digest.hex(Array(Digest.sha256(Array(collapseID.utf8)).prefix(8)))
    return subject("slot", device) + ".\(app.row).\(name)"
  }

  func slots(of device: DeviceID, app: AppID?) -> String {
    subject("slot", device) + (app.map { ".\($0.row).>" } ?? ".>")
  }

  func configuration(_ partition: Int, replicas: Int, cap: Int, firstSequence: UInt64) -> StreamConfiguration {
    let digits = MailboxStreams.digits(partition)
    var stream = StreamConfiguration(
      name: stream(partition),
      subjects: [pushes(in: partition), "slot.\(digits).>", "box.\(digits).*"], replicas: replicas)
    stream.discard = "old"
    stream.maximumAge = Int64(Limits.maximumLifetime + 86_400) * 1_000_000_000
    stream.duplicateWindow = Int64(Limits.duplicateWindow) * 1_000_000_000
    stream.maximumMessagesPerSubject = Int64(cap + cap / 2 + 1000)
    stream.allowsDirect = true
    stream.allowsTTL = true
    stream.allowsRollup = true
    stream.firstSequence = firstSequence
    stream.republish = StreamConfiguration.Republish(
      source: "mb.\(digits).*", destination: "live.\(digits).{{wildcard(1)}}")
    return stream
  }

  private func subject(_ kind: String, _ device: DeviceID) -> String {
    "\(kind).\(MailboxStreams.digits(partition(of: device))).\(device.row)"
  }

  private static func digits(_ partition: Int) -> String {
    let text = String(partition)
    return String(repeating: "0", count: max(0, 3 - text.count)) + text
  }
}
