/// What happens at the terminal.
package enum TerminalInput: Sendable, Equatable {
  case key(Key)
  case mouse(Mouse)
  /// A whole line, without its end, where lines are typed and not keys.
  case line(String)
  /// What the terminal's background is like (OSC 11).
  case background(Appearance)
  case resized(Size)
  /// The terminal got or lost the focus (mode 1004).
  case focus(Bool)
  /// Another minute began.
  case tick
  /// The process is asked to end (SIGTERM, SIGINT, SIGHUP) or its terminal is gone.
  case terminate

  /// Whether a person's hand did it.
  package var isFromPerson: Bool {
    switch self {
    case .key, .mouse, .line: true
    case .background, .resized, .focus, .tick, .terminate: false
    }
  }
}

/// A value that messages change, and that says what is to be done about them.
package protocol EffectModel: Sendable {
  /// What can happen to it.
  associatedtype Message: Sendable
  /// What it wants done.
  associatedtype Effect: Sendable, Equatable
  /// A point in time, as the program's clock gives it.
  associatedtype Instant: Sendable

  /// The effect that ends the program.
  static var quit: Effect { get }

  /// The message that stands for what happens at the terminal.
  static func message(for input: TerminalInput) -> Message

  /// Lets `message` happen at `now`, and returns what is to be done, in order.
  mutating func update(_ message: Message, now: Instant) -> [Effect]
}

/// What ``Program`` runs: a model that can be drawn.
package protocol ProgramModel: EffectModel {
  /// The whole screen.
  func view(size: Size) -> Frame
}

/// What ``LineProgram`` runs: a model that is read and typed to in lines.
package protocol LineModel: EffectModel {
  /// The lines that it says since the last call, each with its end; empty for none.
  mutating func takeOutput() -> String

  /// What was taken last has been written, at `now`.
  mutating func noteShown(now: Instant)
}
