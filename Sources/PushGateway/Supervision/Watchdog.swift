import HTTP2Transport

/// Tells the service manager that the gateway lives, as long as each of its event loops comes to what it is asked.
///
/// One that hangs gets no sign of life out, so that the manager ends the process and starts it again.
struct Watchdog: Sendable {
  let manager: ServiceManager
  let loops: Loops

  /// Runs until its task is cancelled; returns at once where nobody wants to know.
  func run() async {
    guard let time = manager.watchdogTime else { return }
    while !Task.isCancelled {
      if await loops.answer(within: time / 4) { manager.alive() }
      // Half the time, as sd_watchdog_enabled(3) wants it.
      try? await Task.sleep(for: time / 2)
    }
  }
}
