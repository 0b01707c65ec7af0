import Foundation
import Glibc
import LoadTest
import Synchronization

/// A bar on the terminal that says how far a test is; nothing anywhere else.
final class ProgressBar: Sendable {
  private let isShown: Bool
  private let lastDrawn = Mutex(ContinuousClock.now - .seconds(1))
  private static let interval = Duration.milliseconds(100)
  private static let width = 24

  init() { isShown = isatty(STDERR_FILENO) == 1 }

  /// Draws, at most ten times a second.
  func show(_ progress: LoadTest.Progress) {
    guard isShown else { return }
    let isDue = lastDrawn.withLock { last in
      guard ContinuousClock.now - last >= ProgressBar.interval else { return false }
      last = .now
      return true
    }
    if isDue { Output.progress(ProgressBar.text(progress)) }
  }

  /// Takes the bar away.
  func clear() { if isShown { Output.progress("") } }

  static func text(_ progress: LoadTest.Progress) -> String {
    let full = Int((min(1, max(0, progress.share)) * Double(width)).rounded())
    let name = progress.phase.rawValue
    let bar = String(repeating: "█", count: full) + String(repeating: "░", count: width - full)
    let counts =
      switch progress.phase {
      case .enroll: ""
      case .connect: "  \(BenchTable.grouped(progress.connected)) devices"
      case .warmUp, .run, .drain:
        "  accepted \(BenchTable.grouped(progress.accepted)), delivered \(BenchTable.grouped(progress.delivered))"
      }
    return name + String(repeating: " ", count: 8 - name.count) + bar + counts
  }
}
