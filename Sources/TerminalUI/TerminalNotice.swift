import Foundation

/// A desktop notification through the terminal: OSC 99, 777 or 9, depending on the terminal.
package struct TerminalNotice: Sendable, Equatable {
  package enum Form: String, Sendable, CaseIterable {
    /// The form of kitty, with title and body in base64.
    case osc99
    /// The form of urxvt, which foot, ghostty, WezTerm and VTE also support.
    case osc777
    /// The form of iTerm2, with one text.
    case osc9
    /// Only the bell.
    case bell
  }

  /// For a terminal that receives only the bell.
  package static let bell = TerminalNotice(form: .bell, isWrapped: false)

  package var form: Form
  /// True if the sequence passes through tmux, which forwards only wrapped sequences.
  package var isWrapped: Bool

  /// The maximum size of a text in bytes; OSC 99 allows 2,048 before base64.
  private static let maximumSize = 1_000

  /// Returns the sequence for a notification, followed by the bell, so that `monitor-bell` detects it too.
  ///
  /// OSC 9 has one text. Some terminals interpret a number at its front as a command (`4;3` is a progress bar). The
  /// text therefore begins with the app's name and a colon, and no semicolon precedes them.
  ///
  /// - Parameters:
  ///   - app: The app's name.
  ///   - title: The alert's title; empty if it has none.
  ///   - id: Identifies the notification where the terminal keeps several: letters, digits and hyphens.
  package func sequence(app: String, title: String, body: String, id: String) -> String {
    let app = Self.clean(app).replacing(";", with: ",")
    let texts = [title, body].map(Self.clean)
    let title = texts[0].isEmpty ? app : texts[0]
    let body = texts[1]
    let bell = "\u{07}"
    switch form {
    case .osc99:
      let identity = "i=\(id)"
      return wrapped("\u{1B}]99;\(identity):d=0:e=1;\(base64(title))\u{1B}\\")
        + wrapped("\u{1B}]99;\(identity):p=body:e=1;\(base64(body))\u{1B}\\") + bell
    case .osc777:
      // A semicolon ends the title.
      return wrapped("\u{1B}]777;notify;\(title.replacing(";", with: ","));\(body)\u{1B}\\") + bell
    case .osc9:
      return wrapped("\u{1B}]9;\(([app] + texts.filter { !$0.isEmpty }).joined(separator: ": "))\u{1B}\\") + bell
    case .bell: return bell
    }
  }

  /// Wraps a sequence for tmux (`allow-passthrough`): every ESC doubled, inside a DCS.
  private func wrapped(_ sequence: String) -> String {
    isWrapped ? "\u{1B}Ptmux;\(sequence.replacing("\u{1B}", with: "\u{1B}\u{1B}"))\u{1B}\\" : sequence
  }

  private static func clean(_ text: String) -> String {
    Sanitizer.prefix(Sanitizer.line(text), maximumSize: maximumSize)
  }

  /// Detects the notification form of the terminal from its environment variables.
  ///
  /// - Parameter isPassedThrough: True if tmux forwards wrapped sequences.
  package static func detect(_ environment: [String: String], isPassedThrough: Bool) -> TerminalNotice {
    let isTmux = environment["TMUX"].map { !$0.isEmpty } ?? false
    let form = form(environment)
    return isTmux && !isPassedThrough
      ? TerminalNotice(form: .bell, isWrapped: false) : TerminalNotice(form: form, isWrapped: isTmux)
  }

  private static func form(_ environment: [String: String]) -> Form {
    let term = environment["TERM"] ?? ""
    let program = environment["TERM_PROGRAM"] ?? environment["LC_TERMINAL"] ?? ""
    if environment["KITTY_WINDOW_ID"] != nil || term == "xterm-kitty" { return .osc99 }
    if environment["VTE_VERSION"] != nil || environment["GHOSTTY_RESOURCES_DIR"] != nil
      || environment["WEZTERM_PANE"] != nil || term.hasPrefix("foot") || term.hasPrefix("rxvt") || program == "WezTerm"
      || program == "ghostty"
    {
      return .osc777
    }
    if program == "iTerm.app" || program == "iTerm2" || environment["ITERM_SESSION_ID"] != nil
      || environment["ConEmuPID"] != nil || environment["WT_SESSION"] != nil
    {
      return .osc9
    }
    return .bell
  }
}

extension Terminal {
  /// The maximum size in bytes, before base64, that terminals accept for their clipboard.
  private static let maximumClipboardSize = 50_000

  /// Returns the sequence that sends a text to the clipboard of the user's terminal, also over SSH (OSC 52).
  package static func clipboardSequence(_ text: String) -> String {
    "\u{1B}]52;c;\(base64(clipboardContent(text)))\u{07}"
  }

  /// Returns the part of a text that is copied: without control characters, and within the size limit.
  package static func clipboardContent(_ text: String) -> String {
    Sanitizer.prefix(Sanitizer.body(text), maximumSize: maximumClipboardSize)
  }
}

/// Returns the UTF-8 of `text` in base64 (RFC 4648 §4).
private func base64(_ text: String) -> String { Data(text.utf8).base64EncodedString() }
