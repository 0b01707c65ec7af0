import GatewayProtocol
import PushCore
import Synchronization

/// The faults that are set, shared by all loops. While there is none, a request costs one relaxed load.
final class FaultTable: Sendable {
  private struct Entry {
    var fault: Fault
    /// Which of several of one name it is: what an earlier one did to connections ends with that.
    var number: UInt64
    var strikes = 0
    /// When it ends, in milliseconds since 1970; nil: when it is cleared.
    var end: Int64?
    var random: SplitMix64
    /// The second in which a throttle counts, and its requests.
    var second: Int64 = 0
    var inSecond = 0

    func isActive(_ now: Int64) -> Bool {
      (end.map { now < $0 } ?? true) && (fault.rule.count.map { strikes < $0 } ?? true)
    }

    /// Whether chance, or the throttle, has it strike now.
    mutating func takes(_ now: Int64) -> Bool {
      if let rate = fault.rule.rate {
        // 53 bits, as many as a Double holds: 100 per cent is always, 0 never.
        guard Double(random.next() >> 11) / Double(1 << 53) * 100 < rate else { return false }
      }
      guard case .throttle(let limit) = fault.effect else { return true }
      if second != now / 1000 { (second, inSecond) = (now / 1000, 0) }
      inSecond += 1
      return inSecond > limit
    }
  }

  /// What strikes: the fault, which it is, and until when.
  struct Strike: Sendable {
    var fault: Fault
    var number: UInt64
    /// Milliseconds since 1970.
    var end: Int64?
  }

  private struct State {
    var entries: [Entry] = []
    var lastNumber: UInt64 = 0

    /// What does not fit; nil when all does.
    func brokenInvariant() -> String? {
      if entries.count > Limits.maximumFaults { return "\(entries.count) faults are set" }
      var before: UInt64 = 0
      for entry in entries {
        if entry.number <= before { return "fault \(entry.number) comes after \(before)" }
        before = entry.number
        if let count = entry.fault.rule.count, entry.strikes > count {
          return "\(entry.fault.rule.name) was injected \(entry.strikes) times of \(count)"
        }
      }
      if before > lastNumber { return "number \(before) will be given out again" }
      return Set(entries.map(\.fault.rule.name)).count == entries.count ? nil : "two faults have one name"
    }

    /// Ends a debug build in which something does not fit; a release build has no trace of this.
    func checkInvariants() { assert(brokenInvariant() == nil, brokenInvariant() ?? "") }
  }

  /// What does not fit; nil when all does.
  func brokenInvariant() -> String? {
    state.withLock { state in
      if state.entries.isEmpty, isArmed { return "no fault is set, and every request asks" }
      return state.brokenInvariant()
    }
  }

  /// How often any of them has struck.
  let strikes = Counter()
  /// Whether any fault may strike again; changes with `state` locked.
  private let armed = Atomic<Bool>(false)
  private let state = Mutex(State())
  /// Called with the numbers of faults that were cleared, on any thread.
  private let cleared = Mutex<(@Sendable (Set<UInt64>) -> Void)?>(nil)

  /// Whether any fault is set. A fault that is set just now may be missed by what arrives at the same time.
  var isArmed: Bool { armed.load(ordering: .relaxed) }

  /// Has `body` called with the numbers of faults that were cleared or replaced.
  func onClear(_ body: @escaping @Sendable (Set<UInt64>) -> Void) { cleared.withLock { $0 = body } }

  /// Sets faults; those of the same name go. `now` is in milliseconds since 1970.
  func set(_ faults: [Fault], now: Int64) throws(FaultError) {
    let gone = try state.withLock { state throws(FaultError) -> Set<UInt64> in
      let names = Set(faults.map(\.rule.name))
      let kept = state.entries.filter { !names.contains($0.fault.rule.name) }
      guard kept.count + faults.count <= Limits.maximumFaults else {
        throw FaultError(description: "at most \(Limits.maximumFaults) faults can be set: clear some first")
      }
      let gone = Set(state.entries.map(\.number)).subtracting(kept.map(\.number))
      state.entries = kept
      for fault in faults {
        state.lastNumber += 1
        state.entries.append(
          Entry(
            fault: fault, number: state.lastNumber, end: fault.rule.seconds.map { now + Int64($0 * 1000) },
            random: SplitMix64(state: fault.rule.seed ?? .random(in: 0 ... .max))))
      }
      armed.store(!state.entries.isEmpty, ordering: .relaxed)
      state.checkInvariants()
      return gone
    }
    notify(gone)
  }

  /// Clears one fault by its name, or all.
  ///
  /// - Returns: how many went.
  @discardableResult
  func clear(_ name: String? = nil) -> Int {
    let gone = state.withLock { state in
      let gone = state.entries.filter { name == nil || $0.fault.rule.name == name }.map(\.number)
      state.entries.removeAll { gone.contains($0.number) }
      armed.store(!state.entries.isEmpty, ordering: .relaxed)
      return Set(gone)
    }
    notify(gone)
    return gone.count
  }

  private func notify(_ gone: Set<UInt64>) {
    guard !gone.isEmpty else { return }
    cleared.withLock { $0 }?(gone)
  }

  /// The first fault, in the order of setting, that strikes a request, or a connection that has just begun.
  func strike(_ target: FaultTarget, isConnection: Bool = false, now: Int64) -> Strike? {
    state.withLock { state in
      for index in state.entries.indices {
        let fault = state.entries[index].fault
        guard fault.strikesConnections == isConnection, state.entries[index].isActive(now), fault.fits(target) else {
          continue
        }
        guard state.entries[index].takes(now) else { continue }
        state.entries[index].strikes += 1
        strikes.add()
        state.checkInvariants()
        return Strike(fault: fault, number: state.entries[index].number, end: state.entries[index].end)
      }
      // What has done its work never strikes again, and need not be asked about.
      if !state.entries.contains(where: { $0.isActive(now) }) { armed.store(false, ordering: .relaxed) }
      return nil
    }
  }

  /// Every fault that is set, also those that have done their work.
  func list(now: Int64) -> [FaultRecord] {
    state.withLock { state in
      state.entries.map { entry in
        FaultRecord(
          rule: entry.fault.rule, does: entry.fault.words, strikes: entry.strikes, isActive: entry.isActive(now),
          left: entry.fault.rule.count.map { max(0, $0 - entry.strikes) },
          secondsLeft: entry.end.map { Double(max(0, $0 - now)) / 1000 })
      }
    }
  }
}
