import Foundation
import Glibc
import TerminalUI

extension PhoneSession {
  /// Runs in lines until the user quits or the input ends.
  ///
  /// - Throws: ``CommandFailure`` of ``Exit/interrupted`` if a signal ended it.
  func runInLines() async throws {
    var isInterrupted = false
    try await run { model, inbox, perform in
      var plain = PlainPhone(model)
      plain.size = terminal.size
      plain.greet(now: Date())
      isInterrupted = await LineProgram(
        model: plain, terminal: terminal, inbox: inbox, clock: { Date() }, write: PhoneSession.write
      ).run(perform: perform)
    }
    if isInterrupted { throw CommandFailure(.interrupted) }
  }

  /// Returns when the terminal has transmitted the output, which takes time on a serial line.
  private static func write(_ lines: String) {
    Output.data(lines: lines)
    tcdrain(STDOUT_FILENO)
  }
}
