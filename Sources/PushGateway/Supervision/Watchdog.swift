import HTTP2Transport

/// Sends heartbeats to the service manager while every event loop runs its tasks in time.
///
/// If a loop hangs, no heartbeat is sent, so that the manager ends the process and starts it again.
struct Watchdog: Sendable {
  let manager: ServiceManager
  let loops: Loops

  /// Runs until its task is canceled; returns at once if the watchdog is disabled.
  func run() async {
    guard let time = manager.watchdogTime else { return }
    while !Task.isCancelled {
      if await loops.answer(within: time / 4) { manager.alive() }
      // Half the timeout, as sd_watchdog_enabled(3) recommends.
      try? await Task.sleep(for: time / 2)
    }
  }
}
