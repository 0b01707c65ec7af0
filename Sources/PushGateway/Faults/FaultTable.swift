import GatewayProtocol
import PushCore
import Synchronization

/// The table of faults, shared by all loops. While it is empty, a request costs one relaxed load.
final class FaultTable: Sendable {
  private struct Entry {
    var fault: Fault
    /// The token for which a test set the fault; nil for a fault of an administrator. A name is unique for each owner.
    var owner: String?
    /// A unique number that distinguishes faults with the same name: the effects of a replaced fault on connections
    /// end with it.
    var number: UInt64
    var injections = 0
    /// The beginning, in milliseconds since 1970.
    var begun: Int64
    /// The end, in milliseconds since 1970; nil if it ends when it is cleared.
    var end: Int64?
    var random: SplitMix64
    /// The current second of a throttle, and its number of requests.
    var second: Int64 = 0
    var inSecond = 0

    /// A fault with an end also ends when the clock is set back before its beginning.
    func isActive(_ now: Int64) -> Bool {
      (end.map { (begun..<max(begun, $0)).contains(now) } ?? true) && (fault.rule.count.map { injections < $0 } ?? true)
    }

    /// Returns true if the fault matches now, by its rate or its throttle.
    mutating func takes(_ now: Int64) -> Bool {
      if let rate = fault.rule.rate {
        // 53 bits, the precision of a Double: 100 percent always matches, 0 never.
        guard Double(random.next() >> 11) / Double(1 << 53) * 100 < rate else { return false }
      }
      guard case .throttle(let limit) = fault.effect else { return true }
      if second != now / 1000 { (second, inSecond) = (now / 1000, 0) }
      inSecond += 1
      return inSecond > limit
    }
  }

  /// A match of a fault: the fault, its number and its end.
  struct Injection: Sendable {
    var fault: Fault
    var number: UInt64
    /// The end, in milliseconds since 1970.
    var end: Int64?
  }

  private struct State {
    var entries: [Entry] = []
    var lastNumber: UInt64 = 0

    /// Returns a description of an invariant that does not hold; nil if all hold.
    func brokenInvariant() -> String? {
      if entries.count > Limits.maximumFaults { return "\(entries.count) faults are set" }
      var before: UInt64 = 0
      for entry in entries {
        if entry.number <= before { return "fault \(entry.number) comes after \(before)" }
        before = entry.number
        if let count = entry.fault.rule.count, entry.injections > count {
          return "\(entry.fault.rule.name) was injected \(entry.injections) times of \(count)"
        }
      }
      if before > lastNumber { return "number \(before) will be given out again" }
      let names = Set(entries.map { [$0.owner ?? "", $0.fault.rule.name] })
      return names.count == entries.count ? nil : "two faults have one name"
    }

    /// Ends a debug build in which an invariant does not hold; a release build does not contain this check.
    func checkInvariants() { assert(brokenInvariant() == nil, brokenInvariant() ?? "") }
  }

  /// Returns a description of an invariant that does not hold; nil if all hold.
  func brokenInvariant() -> String? {
    state.withLock { state in
      if state.entries.isEmpty, isArmed { return "no fault is set, and every request asks" }
      return state.brokenInvariant()
    }
  }

  /// The number of injected faults.
  let injections = Counter()
  /// True if any fault may still match; changed only while `state` is locked.
  private let armed = Atomic<Bool>(false)
  private let state = Mutex(State())
  /// Called with the numbers of cleared faults, on any thread.
  private let cleared = Mutex<(@Sendable (Set<UInt64>) -> Void)?>(nil)

  /// True if any fault may match. A request that arrives at the same time as a new fault may miss it.
  var isArmed: Bool { armed.load(ordering: .relaxed) }

  /// Sets the function that is called with the numbers of cleared or replaced faults.
  func onClear(_ body: @escaping @Sendable (Set<UInt64>) -> Void) { cleared.withLock { $0 = body } }

  /// Adds faults, which replace those with the same name. `now` is in milliseconds since 1970.
  ///
  /// - Throws: ``FaultError`` for a repeated name, or if there would be more than ``Limits/maximumFaults``.
  func set(_ faults: [Fault], now: Int64) throws(FaultError) {
    let names = Set(faults.map(\.rule.name))
    try put(faults, owner: nil, now: now) { $0.owner == nil && names.contains($0.fault.rule.name) }
  }

  /// Sets the faults of a token for a test, in place of its earlier ones. Completed faults of other tests end, too.
  ///
  /// - Throws: ``FaultError`` for a repeated name, or if there would be more than ``Limits/maximumFaults``.
  func set(_ faults: [Fault], of token: String, now: Int64) throws(FaultError) {
    try put(faults, owner: token, now: now) { $0.owner == token || $0.owner != nil && !$0.isActive(now) }
  }

  private func put(
    _ faults: [Fault], owner: String?, now: Int64, replacing isReplaced: @Sendable (Entry) -> Bool
  ) throws(FaultError) {
    var names: Set<String> = []
    for fault in faults where !names.insert(fault.rule.name).inserted {
      throw FaultError(description: "fault \"\(fault.rule.name)\": the name occurs twice")
    }
    let gone = try state.withLock { state throws(FaultError) -> Set<UInt64> in
      let kept = state.entries.filter { !isReplaced($0) }
      guard kept.count + faults.count <= Limits.maximumFaults else {
        let remedy = owner == nil ? "clear some first" : "delete the devices of ended tests first"
        throw FaultError(description: "at most \(Limits.maximumFaults) faults can be set: \(remedy)")
      }
      let gone = Set(state.entries.map(\.number)).subtracting(kept.map(\.number))
      state.entries = kept
      for fault in faults {
        state.lastNumber += 1
        state.entries.append(
          Entry(
            fault: fault, owner: owner, number: state.lastNumber, begun: now,
            end: fault.rule.seconds.map { now + Int64($0 * 1000) },
            random: SplitMix64(state: fault.rule.seed ?? .random(in: 0 ... .max))))
      }
      armed.store(!state.entries.isEmpty, ordering: .relaxed)
      state.checkInvariants()
      return gone
    }
    notify(gone)
  }

  /// Clears the faults with a name, or all faults.
  ///
  /// - Returns: the number of cleared faults.
  @discardableResult
  func clear(_ name: String? = nil) -> Int { remove { name == nil || $0.fault.rule.name == name } }

  /// Clears the faults that a test has set for a token.
  func clear(of token: String) { remove { $0.owner == token } }

  @discardableResult
  private func remove(where isGone: @Sendable (Entry) -> Bool) -> Int {
    let gone = state.withLock { state in
      let gone = Set(state.entries.filter(isGone).map(\.number))
      state.entries.removeAll { gone.contains($0.number) }
      armed.store(!state.entries.isEmpty, ordering: .relaxed)
      return gone
    }
    notify(gone)
    return gone.count
  }

  private func notify(_ gone: Set<UInt64>) {
    guard !gone.isEmpty else { return }
    cleared.withLock { $0 }?(gone)
  }

  /// Returns the first fault, in the order of setting, that matches a request, or a connection that has just begun.
  func injection(_ target: FaultTarget, isConnection: Bool = false, now: Int64) -> Injection? {
    state.withLock { state in
      for index in state.entries.indices {
        let fault = state.entries[index].fault
        guard fault.appliesToConnections == isConnection, state.entries[index].isActive(now), fault.fits(target) else {
          continue
        }
        guard state.entries[index].takes(now) else { continue }
        state.entries[index].injections += 1
        injections.add()
        state.checkInvariants()
        return Injection(fault: fault, number: state.entries[index].number, end: state.entries[index].end)
      }
      // Completed faults never match again, so the table need not be searched for them.
      if !state.entries.contains(where: { $0.isActive(now) }) { armed.store(false, ordering: .relaxed) }
      return nil
    }
  }

  /// Returns all faults of the table, including completed ones.
  func list(now: Int64) -> [FaultRecord] {
    state.withLock { state in
      state.entries.map { entry in
        FaultRecord(
          rule: entry.fault.rule, does: entry.fault.words, injections: entry.injections, isActive: entry.isActive(now),
          left: entry.fault.rule.count.map { max(0, $0 - entry.injections) },
          secondsLeft: entry.end.map { Double(max(0, $0 - now)) / 1000 })
      }
    }
  }
}
