import DequeModule
import PushCore
import PushPolicy
import PushStorage
import Synchronization

/// A push that was sent to a device. The device may answer it and report on it.
struct SentPush: Sendable, Equatable {
  var id: APNSID
  /// The time at which it was written to a stream of the device; unknown if it may not have been written.
  var sent = ShortTime.unknown
  var app: AppID
  /// The category whose actions its alert offers.
  var category: String?

  /// The actions that every alert offers.
  static let commonActions: Set = ["view", "close", "ok"]

  /// Returns true if the push offers the action to its recipient.
  func offers(_ action: String, by registrations: any Registrations) -> Bool {
    if SentPush.commonActions.contains(action) { return true }
    guard let category, action.utf8.count <= Limits.maximumActionSize else { return false }
    return registrations.actions(of: app, category).contains { $0.id == action }
  }
}

extension SentPush {
  /// Creates the record of a stored push.
  init(_ push: StoredPush, parser: JSONParser) {
    self.init(id: push.id, app: push.app, category: SentPush.category(of: push.content, push.payload, parser))
  }

  /// Creates the record of a broadcast.
  init(_ message: BroadcastMessage, parser: JSONParser) {
    self.init(
      id: message.id, app: message.app, category: SentPush.category(of: message.content, message.payload, parser))
  }

  private static func category(of content: PushContent?, _ payload: [UInt8], _ parser: JSONParser) -> String? {
    if let content { return content.notification.category }
    return (try? parser.parse(payload.span) { $0["aps"]?["category"]?.string }) ?? nil
  }
}

/// The last ``Limits/rememberedPushes`` pushes that one device has acknowledged, or was sent without a sequence
/// number.
///
/// All streams of the device share it. Older pushes are in the delivery log.
final class DeviceHistory: Sendable {
  /// A ring buffer of pushes, which overwrites the oldest.
  struct Ring {
    private(set) var pushes: [SentPush] = []
    private var oldest = 0

    mutating func add(_ push: SentPush) {
      if pushes.count < Limits.rememberedPushes { return pushes.append(push) }
      pushes[oldest] = push
      oldest = (oldest + 1) % Limits.rememberedPushes
    }
  }

  private let ring = Mutex(Ring())

  /// Changes the history atomically: readers never see a part of one acknowledgment.
  func change(_ body: (inout Ring) -> Void) { ring.withLock { body(&$0) } }

  func push(_ id: APNSID) -> SentPush? { ring.withLock { $0.pushes.first { $0.id == id } } }
}

/// The histories of the connected devices and of the devices that disconnected last.
///
/// A device that was sent no push has no history. Kept in memory only; the delivery log has what was evicted.
final class DeviceHistories: Sendable {
  private struct Entry {
    let history = DeviceHistory()
    /// The number of streams that add to the history.
    var streams = 0
    var hasLeft = false
  }

  private struct State {
    var entries: [DeviceID: Entry] = [:]
    /// Devices in the order in which their last stream ended; some may have reconnected.
    var left = Deque<DeviceID>()
  }

  private let state = Mutex(State())

  /// Returns the history of a device for one of its streams, which releases it with ``close(_:)``.
  func open(_ device: DeviceID) -> DeviceHistory {
    state.withLock { state in
      state.entries[device, default: Entry()].streams += 1
      return state.entries[device, default: Entry()].history
    }
  }

  /// Releases a device's history when the stream that had opened it has ended.
  func close(_ device: DeviceID) {
    state.withLock { state in
      guard let streams = state.entries[device]?.streams else { return }
      state.entries[device]?.streams = streams - 1
      guard streams == 1, state.entries[device]?.hasLeft == false else { return }
      state.entries[device]?.hasLeft = true
      state.left.append(device)
      guard state.left.count > Limits.maximumDepartedHistories, let oldest = state.left.popFirst() else { return }
      state.entries[oldest]?.hasLeft = false
      if state.entries[oldest]?.streams == 0 { state.entries[oldest] = nil }
    }
  }

  /// Returns a push that a device was sent; nil if it is no longer in memory.
  func push(_ id: APNSID, of device: DeviceID) -> SentPush? {
    state.withLock { $0.entries[device]?.history }?.push(id)
  }

  func forget(_ device: DeviceID) { state.withLock { $0.entries[device] = nil } }

  /// The number of devices in memory.
  var count: Int { state.withLock { $0.entries.count } }
}
