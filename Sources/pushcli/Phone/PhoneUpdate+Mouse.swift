import Foundation
import TerminalUI

extension PhoneModel {
  /// The number of lines that one step of the wheel moves.
  private static let wheelStep = 3
  /// The time in seconds after the terminal got the focus within which a click has no effect but to give it the
  /// focus.
  private static let focusTime = 0.2

  /// Handles a click or the wheel like the corresponding keys.
  mutating func point(_ mouse: Mouse) -> [PhoneEffect] {
    switch mouse.action {
    case .press:
      if let focusedAt, now.timeIntervalSince(focusedAt) < PhoneModel.focusTime { return [] }
      notice = nil
      guard !isHelpShown else {
        isHelpShown = false
        return []
      }
      guard !isTooSoon, let command = view(size: size).meaning(column: mouse.column, row: mouse.row) as? PhoneCommand
      else { return [] }
      // A click on the screen directs keys to the alert.
      if isElsewhere {
        turnToAlert()
        return []
      }
      return perform(command)
    case .wheelUp, .wheelDown:
      let step: PhoneCommand.Step = mouse.action == .wheelUp ? .up : .down
      for _ in 0..<PhoneModel.wheelStep { turnWheel(step, mouse) }
      return []
    }
  }

  private mutating func turnWheel(_ step: PhoneCommand.Step, _ mouse: Mouse) {
    if isHelpShown {
      helpOffset = step.offset(in: helpView.viewport)
    } else if sheetInFront != nil || isEditing {
      return
    } else if isAlertShown {
      scroll(step)
    } else if case .app = screen, settings == nil, reading.isOpen || isOnMessage(mouse) {
      scroll(step)
    } else if settings != nil || screen != .home {
      select(step)
    }
  }

  private func isOnMessage(_ mouse: Mouse) -> Bool { appScreen.map { mouse.row >= $0.messageTop } ?? false }
}
