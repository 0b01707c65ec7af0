extension PushRecorder {
  /// Awaits the pushes of an expectation. It blocks no thread, and reads the record only after a change or at a time limit.
  ///
  /// After a cancellation it returns the result of the present pushes.
  func result(of expectation: PushExpectation) async -> ExpectationResult {
    let wait = beginWait(for: expectation.token)
    defer { end(wait) }
    let start = ContinuousClock.now
    var known: [Int: Bool] = [:]
    while true {
      let view = view(of: expectation.token, since: expectation.since)
      var matched = 0
      for push in view.pushes {
        if expectation.isMet(by: push, &known) { matched += 1 }
      }
      let verdict = expectation.verdict(
        matching: matched, lastArrival: view.lastArrival, start: start, now: .now)
      switch verdict {
      case .open(let end) where !Task.isCancelled: await wait.next(until: end)
      case .fulfilled: return ExpectationResult(expectation, isFulfilled: true, view)
      case .failed, .open: return ExpectationResult(expectation, isFulfilled: false, view)
      }
    }
  }
}
