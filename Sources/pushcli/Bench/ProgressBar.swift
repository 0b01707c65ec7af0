import Foundation
import Glibc
import LoadTest
import Synchronization

/// Shows the progress of a test: as a bar on a terminal, otherwise as a line at intervals.
final class ProgressBar: Sendable {
  private let isShown: Bool
  private let lastDrawn: Mutex<ContinuousClock.Instant>
  private let interval: Duration
  private static let width = 24

  init() {
    isShown = isatty(STDERR_FILENO) == 1
    interval = isShown ? .milliseconds(100) : .seconds(10)
    lastDrawn = Mutex(isShown ? .now - .seconds(1) : .now)
  }

  /// Draws the bar at most ten times per second, or prints a line every ten seconds.
  func show(_ progress: LoadTest.Progress) {
    let isDue = lastDrawn.withLock { last in
      guard ContinuousClock.now - last >= interval else { return false }
      last = .now
      return true
    }
    guard isDue else { return }
    if isShown { Output.progress(ProgressBar.text(progress)) } else { Output.words(ProgressBar.line(progress)) }
  }

  /// Returns the phase, its completed percentage and the counts.
  static func line(_ progress: LoadTest.Progress) -> String {
    "\(progress.phase.rawValue) \(Int((min(1, max(0, progress.share)) * 100).rounded())) %\(counts(progress))"
  }

  /// Removes the bar.
  func clear() { if isShown { Output.progress("") } }

  static func text(_ progress: LoadTest.Progress) -> String {
    let full = Int((min(1, max(0, progress.share)) * Double(width)).rounded())
    let name = progress.phase.rawValue
    let bar = String(repeating: "█", count: full) + String(repeating: "░", count: width - full)
    return name + String(repeating: " ", count: 8 - name.count) + bar + counts(progress)
  }

  private static func counts(_ progress: LoadTest.Progress) -> String {
    switch progress.phase {
    case .enroll: ""
    case .connect: "  \(BenchReport.grouped(progress.connected)) devices"
    case .warmUp, .run, .drain:
      "  accepted \(BenchReport.grouped(progress.accepted)), delivered \(BenchReport.grouped(progress.delivered))"
    }
  }
}
