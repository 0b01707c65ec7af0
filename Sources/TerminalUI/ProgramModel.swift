package enum TerminalInput: Sendable, Equatable {
  case key(Key)
  case mouse(Mouse)
  /// A whole line without its line end, from a program that reads lines instead of keys.
  case line(String)
  /// The appearance of the terminal's background (OSC 11).
  case background(Appearance)
  case resized(Size)
  /// The terminal got or lost the focus (mode 1004).
  case focus(Bool)
  /// A new minute began.
  case tick
  /// A signal requests the end of the process (SIGTERM, SIGINT, SIGHUP), or its terminal is gone.
  case terminate

  /// True if the user caused the event.
  package var isFromPerson: Bool {
    switch self {
    case .key, .mouse, .line: true
    case .background, .resized, .focus, .tick, .terminate: false
    }
  }
}

/// A state that messages change, and that returns the effects of each message.
package protocol EffectModel: Sendable {
  /// An event that changes the state.
  associatedtype Message: Sendable
  /// An action for the program to perform.
  associatedtype Effect: Sendable, Equatable
  /// A point in time of the program's clock.
  associatedtype Instant: Sendable

  /// The effect that ends the program.
  static var quit: Effect { get }

  static func message(for input: TerminalInput) -> Message

  /// Applies `message` at the time `now`, and returns the effects to perform, in order.
  mutating func update(_ message: Message, now: Instant) -> [Effect]
}

/// A model for ``Program``, which draws frames.
package protocol ProgramModel: EffectModel {
  /// Draws the whole screen.
  func view(size: Size) -> Frame
}

/// A model for ``LineProgram``, which reads and prints lines.
package protocol LineModel: EffectModel {
  /// Returns the lines that were printed since the last call, each with its line end; empty if there are none.
  mutating func takeOutput() -> String

  /// Records that the last output was written at `now`.
  mutating func noteShown(now: Instant)
}
