import DequeModule
import PushCore
import PushPolicy
import PushStorage
import Synchronization

/// The bounded record of all requests of senders, with their events. Safe on any thread.
///
/// A test gateway adds a push on its arrival, its answer when it is sent, and the rows of the delivery log as they are appended.
final class PushRecorder: Sendable {
  /// The stream of a request that is not answered yet.
  struct RequestKey: Hashable, Sendable {
    var connection: Int
    var stream: Int32
  }

  /// A broadcast as a push to a subscriber.
  private struct Delivery: Hashable {
    var id: APNSID
    var device: DeviceID
  }

  private struct State {
    /// The pushes, by ascending numbers; numbers may be missing.
    var pushes = Deque<RecordedPush>()
    /// The numbers of the requests with an id, in ascending order.
    var numbersByID: [APNSID: [Int]] = [:]
    /// The number of the last push of each delivery.
    var deliveries: [Delivery: Int] = [:]
    /// The numbers of the pushes to a token, in ascending order.
    var numbersByToken: [String: [Int]] = [:]
    /// The numbers of the requests that are not answered yet.
    var open: [RequestKey: Int] = [:]
    var waits: [ObjectIdentifier: RecordWait] = [:]
    var lastNumber = 0
    var lastArrival: ContinuousClock.Instant?
    var dropped = 0
    var weight = 0

    /// Returns the position of a number.
    func index(of number: Int) -> Int? {
      var (low, high) = (0, pushes.count)
      while low < high {
        let middle = (low + high) / 2
        if pushes[middle].number < number { low = middle + 1 } else { high = middle }
      }
      return low < pushes.count && pushes[low].number == number ? low : nil
    }

    /// Appends a push with the next number.
    mutating func append(_ push: RecordedPush) {
      lastNumber += 1
      var push = push
      push.number = lastNumber
      lastArrival = push.arrived
      weight += push.weight
      if push.isDelivery, let device = push.device {
        deliveries[Delivery(id: push.id, device: device)] = push.number
      } else {
        numbersByID[push.id, default: []].append(push.number)
      }
      if let token = push.token { numbersByToken[token, default: []].append(push.number) }
      pushes.append(push)
    }

    /// Removes the oldest pushes beyond the limits of the record, and returns them.
    mutating func evict(keeping keep: Int) -> [RecordedPush] {
      var gone: [RecordedPush] = []
      while pushes.count > keep || weight > Limits.maximumRecordedSize, pushes.count > 1, let first = pushes.popFirst()
      {
        forget(first)
        dropped += 1
        gone.append(first)
      }
      return gone
    }

    /// Removes the entries of a push from the indexes.
    mutating func forget(_ push: RecordedPush) {
      weight -= push.weight
      if push.isDelivery, let device = push.device {
        let delivery = Delivery(id: push.id, device: device)
        if deliveries[delivery] == push.number { deliveries[delivery] = nil }
      } else {
        PushRecorder.remove(push.number, of: push.id, from: &numbersByID)
      }
      if let token = push.token { PushRecorder.remove(push.number, of: token, from: &numbersByToken) }
    }

    /// Returns the waits for pushes to a token.
    func waits(for token: String?) -> [RecordWait] {
      waits.values.filter { $0.token == nil || $0.token == token }
    }
  }

  /// The pushes that an expectation or a list considers.
  struct View: Sendable {
    var pushes: [RecordedPush]
    /// The highest number of all pushes.
    var last: Int
    var dropped: Int
    /// The arrival of the last push to the token, or of all pushes.
    var lastArrival: ContinuousClock.Instant?
  }

  private let state = Mutex(State())
  /// The maximum number of pushes.
  let keep: Int
  /// Called with each push that leaves the record because of its limits.
  private let evicted: @Sendable (RecordedPush) -> Void

  init(keep: Int, evicted: @escaping @Sendable (RecordedPush) -> Void = { _ in }) {
    (self.keep, self.evicted) = (keep, evicted)
  }

  private static func remove<Key>(_ number: Int, of key: Key, from index: inout [Key: [Int]]) {
    index[key]?.removeAll { $0 == number }
    if index[key]?.isEmpty == true { index[key] = nil }
  }

  // MARK: Changes

  /// Adds a request on its arrival.
  func add(_ push: RecordedPush, at key: RequestKey) {
    let (waits, gone) = state.withLock { state in
      state.append(push)
      state.open[key] = state.lastNumber
      return (state.waits(for: push.token), state.evict(keeping: keep))
    }
    for push in gone { evicted(push) }
    for wait in waits { wait.notify() }
  }

  /// Adds a broadcast as a push to a subscriber: a copy of the request, if it is still in the record.
  func add(broadcast id: APNSID, to token: String, of device: DeviceID) {
    let (waits, gone) = state.withLock { state -> ([RecordWait], [RecordedPush]) in
      let requests = (state.numbersByID[id] ?? []).compactMap { state.index(of: $0) }.map { state.pushes[$0] }
      guard let request = requests.last(where: { $0.token == nil && $0.outcome != .refused }) else { return ([], []) }
      state.append(request.delivered(to: token, of: device))
      return (state.waits(for: token), state.evict(keeping: keep))
    }
    for push in gone { evicted(push) }
    for wait in waits { wait.notify() }
  }

  /// Changes a request that is not answered yet.
  func change(at key: RequestKey, _ change: (inout RecordedPush) -> Void) {
    self.change(finding: { $0.open[key] }, change)
  }

  /// Changes a request at its end.
  func end(at key: RequestKey, _ change: (inout RecordedPush) -> Void) {
    self.change(finding: { $0.open.removeValue(forKey: key) }, change)
  }

  private func change(finding find: (inout State) -> Int?, _ change: (inout RecordedPush) -> Void) {
    let waits = state.withLock { state -> [RecordWait] in
      guard let number = find(&state), let index = state.index(of: number) else { return [] }
      change(&state.pushes[index])
      return state.waits(for: state.pushes[index].token)
    }
    for wait in waits { wait.notify() }
  }

  /// Adds rows of the delivery log to their pushes.
  func note(_ rows: [DeliveryLog.Row]) {
    let waits = state.withLock { state in
      var waits: [ObjectIdentifier: RecordWait] = [:]
      for row in rows {
        guard let index = PushRecorder.index(of: row, in: state) else { continue }
        if row.event == .accepted, state.pushes[index].outcome == .open {
          (state.pushes[index].outcome, state.pushes[index].status) = (.accepted, 200)
        }
        state.pushes[index].add(row)
        for wait in state.waits(for: state.pushes[index].token) { waits[ObjectIdentifier(wait)] = wait }
      }
      return waits.values.map { $0 }
    }
    for wait in waits { wait.notify() }
  }

  /// Returns the position of the push that a row is about.
  ///
  /// Several pushes may have the same id: for other devices, or as retries. A row is about the accepted push, or about a request
  /// without an answer.
  private static func index(of row: DeliveryLog.Row, in state: State) -> Int? {
    if let device = row.device, let number = state.deliveries[Delivery(id: row.id, device: device)] {
      return state.index(of: number)
    }
    let indexes = (state.numbersByID[row.id] ?? []).compactMap(state.index)
    let ofDevice = indexes.filter { index in
      guard let device = state.pushes[index].device, let other = row.device else { return true }
      return device == other
    }
    switch row.event {
    case .accepted: return ofDevice.first { state.pushes[$0].outcome == .open }
    // The request is refused before the row is written.
    case .refused:
      return ofDevice.first { index in
        let push = state.pushes[index]
        return push.outcome == .refused && !push.events.contains { $0.event == .refused }
      }
    // A fault is injected before the answer.
    case .fault: if let open = ofDevice.last(where: { state.pushes[$0].outcome == .open }) { return open }
    default: break
    }
    return ofDevice.last { state.pushes[$0].outcome == .accepted } ?? ofDevice.last
  }

  /// Empties the record.
  ///
  /// - Parameter token: the token whose pushes are removed; nil for all.
  /// - Returns: the number of removed pushes.
  func removeAll(of token: String?) -> Int {
    state.withLock { state in
      let gone = state.pushes.filter { token == nil || $0.token == token }
      for push in gone { state.forget(push) }
      state.pushes.removeAll { token == nil || $0.token == token }
      return gone.count
    }
  }

  // MARK: Reads

  /// Returns the pushes to a token, or all pushes, with a higher number than `since`, in order.
  func view(of token: String?, since: Int = 0) -> View {
    state.withLock { state in
      let pushes: [RecordedPush]
      if let token {
        pushes = (state.numbersByToken[token] ?? []).filter { $0 > since }.compactMap { number in
          state.index(of: number).map { state.pushes[$0] }
        }
      } else {
        pushes = state.pushes.filter { $0.number > since }
      }
      let last = token == nil ? state.lastArrival : pushes.last?.arrived
      return View(pushes: pushes, last: state.lastNumber, dropped: state.dropped, lastArrival: last)
    }
  }

  func push(_ number: Int) -> RecordedPush? {
    state.withLock { state in state.index(of: number).map { state.pushes[$0] } }
  }

  /// The numbers of recorded pushes, and of pushes that left the record because of its limits.
  var counts: (recorded: Int, dropped: Int) { state.withLock { ($0.pushes.count, $0.dropped) } }

  // MARK: Waits

  /// Begins to report changes of the pushes to a token, or of all pushes.
  func beginWait(for token: String?) -> RecordWait {
    let wait = RecordWait(token)
    state.withLock { $0.waits[ObjectIdentifier(wait)] = wait }
    return wait
  }

  /// The number of tasks that await changes.
  var waitCount: Int { state.withLock { $0.waits.count } }

  /// Ends the reports.
  func end(_ wait: RecordWait) { state.withLock { $0.waits[ObjectIdentifier(wait)] = nil } }
}
