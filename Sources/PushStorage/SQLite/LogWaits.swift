import PushCore
import Synchronization

/// Who waits for rows of the delivery log: the writer tells them, and nobody searches meanwhile.
final class LogWaits: Sendable {
  /// One who waits.
  final class Wait: Sendable {
    /// The push whose rows are waited for; nil: any.
    let id: APNSID?
    /// The device that sent the request; nil for a request of an administrator.
    let device: DeviceID?
    private let state = Mutex((isNotified: false, isOver: false, waiting: CheckedContinuation<Void, Never>?.none))

    init(_ id: APNSID?, for device: DeviceID?) { (self.id, self.device) = (id, device) }

    /// Whether nothing is waited for any longer.
    var isOver: Bool { state.withLock(\.isOver) }

    /// There is something to see.
    func notify() { resume { $0.isNotified = true } }

    /// The time is up, or nobody wants to know.
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

    /// Returns when there is something to see, or the wait is over.
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
    /// Who waits for one push, by its id.
    var byID: [APNSID: [ObjectIdentifier: Wait]] = [:]
    var others: [ObjectIdentifier: Wait] = [:]
    /// How many waits each device has, and all devices together.
    var perDevice: [DeviceID: Int] = [:]
    var ofDevices = 0
  }

  private let state = Mutex(State())
  private let count = Atomic<Int>(0)

  /// Begins a wait for rows of one push or of any.
  ///
  /// - Parameter device: the device that waits; nil: an administrator.
  /// - Returns: nil when there are ``Limits/maximumLogWaits`` waits, when devices have half of as many, or when this device
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

  /// Forgets one who waited.
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

  /// Tells those who wait for rows of these pushes, which were written elsewhere.
  ///
  /// - Parameter ids: nil: of any.
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

  /// Tells those who wait for one of these rows, which have been written.
  func note(_ rows: [UInt8]) {
    // What it costs while nobody waits.
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
