import PushCore
import Synchronization

/// The pending requests for new rows of the delivery log. The writer notifies them, so that no search is necessary
/// until rows arrive.
final class LogWaits: Sendable {
  /// One pending request.
  final class Wait: Sendable {
    /// The push whose rows are awaited; nil: any push.
    let id: APNSID?
    /// The device that sent the request; nil for a request of an administrator.
    let device: DeviceID?
    private let state = Mutex((isNotified: false, isOver: false, waiting: CheckedContinuation<Void, Never>?.none))

    init(_ id: APNSID?, for device: DeviceID?) { (self.id, self.device) = (id, device) }

    /// True if the wait has ended.
    var isOver: Bool { state.withLock(\.isOver) }

    /// Reports that there are new rows.
    func notify() { resume { $0.isNotified = true } }

    /// Ends the wait, because it timed out or was canceled.
    func end() {
      resume { state in
        state.isNotified = true
        state.isOver = true
      }
    }

    private func resume(
      _ change: (inout (isNotified: Bool, isOver: Bool, waiting: CheckedContinuation<Void, Never>?)) -> Void
    ) {
      let waiting = state.withLock { state in
        change(&state)
        defer { state.waiting = nil }
        return state.waiting
      }
      waiting?.resume()
    }

    /// Returns when there are new rows or the wait has ended.
    func next() async {
      await withCheckedContinuation { continuation in
        let isNotified = state.withLock { state in
          if !state.isNotified { state.waiting = continuation }
          defer { state.isNotified = state.isOver }
          return state.isNotified
        }
        if isNotified { continuation.resume() }
      }
    }
  }

  private struct State {
    /// The waits for one push, by its id.
    var byID: [APNSID: [ObjectIdentifier: Wait]] = [:]
    var others: [ObjectIdentifier: Wait] = [:]
    /// The number of waits of each device, and of all devices together.
    var perDevice: [DeviceID: Int] = [:]
    var ofDevices = 0
  }

  private let state = Mutex(State())
  private let count = Atomic<Int>(0)

  /// Begins a wait for rows of one push or of any push.
  ///
  /// - Parameter device: the device that sent the request; nil: an administrator.
  /// - Returns: nil if there are ``Limits/maximumLogWaits`` waits, if devices have half as many, or if this device
  ///   has ``Limits/maximumDeviceLogWaits``.
  func begin(_ id: APNSID?, for device: DeviceID? = nil) -> Wait? {
    let wait = Wait(id, for: device)
    return state.withLock { state in
      guard count.load(ordering: .relaxed) < Limits.maximumLogWaits else { return nil }
      if let device {
        guard state.ofDevices < Limits.maximumLogWaits / 2,
          state.perDevice[device, default: 0] < Limits.maximumDeviceLogWaits
        else { return nil }
        state.ofDevices += 1
        state.perDevice[device, default: 0] += 1
      }
      count.add(1, ordering: .relaxed)
      if let id {
        state.byID[id, default: [:]][ObjectIdentifier(wait)] = wait
      } else {
        state.others[ObjectIdentifier(wait)] = wait
      }
      return wait
    }
  }

  /// Begins a wait for rows of any push, for a part of the gateway itself: the limits of ``begin(_:for:)`` do not apply.
  func follow() -> Wait {
    let wait = Wait(nil, for: nil)
    state.withLock { state in
      count.add(1, ordering: .relaxed)
      state.others[ObjectIdentifier(wait)] = wait
    }
    return wait
  }

  func end(_ wait: Wait) {
    state.withLock { state in
      count.subtract(1, ordering: .relaxed)
      if let device = wait.device {
        state.ofDevices -= 1
        state.perDevice[device] = state.perDevice[device].flatMap { $0 > 1 ? $0 - 1 : nil }
      }
      guard let id = wait.id else {
        state.others[ObjectIdentifier(wait)] = nil
        return
      }
      state.byID[id]?[ObjectIdentifier(wait)] = nil
      if state.byID[id]?.isEmpty == true { state.byID[id] = nil }
    }
  }

  /// Notifies the waits for rows of these pushes, which another gateway has written.
  ///
  /// - Parameter ids: the ids of the pushes; nil: any push.
  func note(_ ids: [APNSID]?) {
    guard count.load(ordering: .relaxed) > 0 else { return }
    let waits = state.withLock { state in
      var found = state.others
      guard let ids else {
        for waiting in state.byID.values { found.merge(waiting) { wait, _ in wait } }
        return found.values
      }
      for id in ids {
        if let waiting = state.byID[id] { found.merge(waiting) { wait, _ in wait } }
      }
      return found.values
    }
    for wait in waits { wait.notify() }
  }

  /// Notifies the waits for any of these rows, which have been written.
  func note(_ rows: [UInt8]) {
    // Without waits, this check is the only cost.
    guard count.load(ordering: .relaxed) > 0 else { return }
    let waits = state.withLock { state in
      var found = state.others
      if state.byID.isEmpty { return found.values }
      LogLayout.forEachID(of: rows) { id in
        if let waiting = state.byID[id] { found.merge(waiting) { wait, _ in wait } }
      }
      return found.values
    }
    for wait in waits { wait.notify() }
  }
}
