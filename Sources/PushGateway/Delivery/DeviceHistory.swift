import DequeModule
import PushCore
import PushPolicy
import PushStorage
import Synchronization

/// A push that a device has been sent: what the device may answer, report and speak of.
struct SentPush: Sendable, Equatable {
  var id: APNSID
  /// When it was written to a stream of the device; unknown where it may not have been.
  var sent = ShortTime.unknown
  var app: AppID
  /// The category whose actions its alert offers.
  var category: String?

  /// Actions that every alert has by itself.
  static let commonActions: Set = ["view", "close", "ok"]

  /// Whether a person can have picked an action of it.
  func offers(_ action: String, by registrations: any Registrations) -> Bool {
    if SentPush.commonActions.contains(action) { return true }
    guard let category, action.utf8.count <= Limits.maximumActionSize else { return false }
    return registrations.actions(of: app, category).contains { $0.id == action }
  }
}

extension SentPush {
  /// What a stored push offers.
  init(_ push: StoredPush, parser: JSONParser) {
    self.init(id: push.id, app: push.app, category: SentPush.category(of: push.content, push.payload, parser))
  }

  /// What a broadcast offers.
  init(_ message: BroadcastMessage, parser: JSONParser) {
    self.init(
      id: message.id, app: message.app, category: SentPush.category(of: message.content, message.payload, parser))
  }

  private static func category(of content: PushContent?, _ payload: [UInt8], _ parser: JSONParser) -> String? {
    if let content { return content.notification.category }
    return (try? parser.parse(payload.span) { $0["aps"]?["category"]?.string }) ?? nil
  }
}

/// The last pushes that one device has acknowledged, or was sent without a number: ``Limits/rememberedPushes`` of them.
///
/// All streams of the device share it. What it does not hold is looked up (``FindSentPush``).
final class DeviceHistory: Sendable {
  /// The pushes, the oldest of which gives way.
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

  /// Changes it, as a whole: nobody sees half of what a device has acknowledged at once.
  func change(_ body: (inout Ring) -> Void) { ring.withLock { body(&$0) } }

  func push(_ id: APNSID) -> SentPush? { ring.withLock { $0.pushes.first { $0.id == id } } }
}

/// The histories of devices: of those that are connected, and of those that left last.
///
/// A device that was sent nothing has none. Kept in memory only; what is forgotten is found in the delivery log.
final class DeviceHistories: Sendable {
  private struct Entry {
    let history = DeviceHistory()
    /// Streams that add to it.
    var streams = 0
    var hasLeft = false
  }

  private struct State {
    var entries: [DeviceID: Entry] = [:]
    /// Devices in the order in which their last stream ended; some may be back.
    var left = Deque<DeviceID>()
  }

  private let state = Mutex(State())

  /// The history of a device for one of its streams, which gives it back with ``close(_:)``.
  func open(_ device: DeviceID) -> DeviceHistory {
    state.withLock { state in
      state.entries[device, default: Entry()].streams += 1
      return state.entries[device, default: Entry()].history
    }
  }

  /// A stream that had opened a device's history has ended.
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

  /// A push that a device was sent, as far as it is remembered.
  func push(_ id: APNSID, of device: DeviceID) -> SentPush? {
    state.withLock { $0.entries[device]?.history }?.push(id)
  }

  /// Forgets a device.
  func forget(_ device: DeviceID) { state.withLock { $0.entries[device] = nil } }

  /// How many devices are remembered.
  var count: Int { state.withLock { $0.entries.count } }
}
