import Foundation
import GatewayProtocol
import Glibc
import Synchronization
import TerminalUI

/// The services around the screen: sounds, desktop notifications, the clipboard, and the user's commands.
///
/// No method waits for another program.
final class PhoneEnvironment: Sendable {
  let sounds: SoundPlayer
  private let terminal: Terminal
  /// Detected at the first notification: the query to tmux takes a moment and must not delay the first frame.
  private let notice = Mutex<TerminalNotice?>(nil)
  /// The user's commands for pushes that View opens.
  private let commands: ExecCommands
  private let takesSequences: Bool
  private let count = Mutex(0)

  /// - Parameters:
  ///   - sounds: The folder of the user's custom sounds.
  ///   - takesSequences: True if the terminal supports escape sequences; otherwise none are sent.
  init(terminal: Terminal, commands: ExecCommands, sounds: String, takesSequences: Bool = true) {
    self.terminal = terminal
    self.commands = commands
    self.takesSequences = takesSequences
    self.sounds = SoundPlayer(folder: sounds, ring: { if terminal.isInteractive { terminal.ring() } })
  }

  private static func detectNotice() -> TerminalNotice {
    let environment = ProcessInfo.processInfo.environment
    let isInTmux = !(environment["TMUX"] ?? "").isEmpty
    return TerminalNotice.detect(environment, isPassedThrough: isInTmux && tmuxPassesThrough())
  }

  /// Returns true if tmux forwards sequences to its outer terminal.
  private static func tmuxPassesThrough() -> Bool {
    let process = Process.quiet(["tmux", "show-options", "-Apv", "allow-passthrough"])
    let output = Pipe()
    process.standardOutput = output
    guard (try? process.run()) != nil else { return false }
    let answer = (try? output.fileHandleForReading.readToEnd()).map { String(decoding: $0, as: UTF8.self) } ?? ""
    process.waitUntilExit()
    return answer.hasPrefix("on") || answer.hasPrefix("all")
  }

  /// Notifies the user outside of this screen: through the terminal, or through the desktop if the terminal has no
  /// support.
  func notify(app: String, title: String, body: String) {
    let id = count.withLock { count in
      count += 1
      return count
    }
    let notice = notice.withLock { notice in
      let known = notice ?? (takesSequences ? Self.detectNotice() : .bell)
      notice = known
      return known
    }
    if notice.form == .bell, Self.hasDesktop {
      let summary = Sanitizer.line(title.isEmpty ? app : title)
      Self.spawn(["notify-send", "--app-name=PushGateway", "--", summary, Sanitizer.body(body)], [:])
    } else if terminal.isInteractive {
      terminal.write(notice.sequence(app: app, title: title, body: body, id: "pushgateway-\(id)"))
    }
  }

  private static let hasDesktop: Bool = {
    let environment = ProcessInfo.processInfo.environment
    guard environment["DISPLAY"] != nil || environment["WAYLAND_DISPLAY"] != nil else { return false }
    return SoundPlayer.standardSearchPath.contains { unsafe access($0 + "/notify-send", X_OK) == 0 }
  }()

  /// Copies a text through tmux, which reports success and forwards the text to its outer terminal. Without tmux, or
  /// if tmux fails, the text is sent to the terminal, which reports nothing.
  ///
  /// - Parameter say: Called with the result as text, on any thread.
  func copy(_ text: String, say: @escaping @Sendable (String) -> Void) {
    guard !(ProcessInfo.processInfo.environment["TMUX"] ?? "").isEmpty else {
      guard takesSequences else { return say(PhoneEnvironment.unreachable) }
      terminal.write(Terminal.clipboardSequence(text))
      return say(PhoneEnvironment.handedOn)
    }
    let (terminal, takesSequences) = (terminal, takesSequences)
    DispatchQueue.global(qos: .userInitiated).async {
      let isCopied = PhoneEnvironment.loadIntoTmux(Terminal.clipboardContent(text))
      if !isCopied, takesSequences { terminal.write(Terminal.clipboardSequence(text)) }
      say(isCopied ? "Copied" : takesSequences ? PhoneEnvironment.handedOn : PhoneEnvironment.unreachable)
    }
  }

  /// The result for OSC 52: no terminal confirms it, and many ignore it.
  static let handedOn = "Handed to the terminal's clipboard"
  /// The result for a terminal without escape sequences, which has no clipboard for programs.
  static let unreachable = "Not copied: this terminal has no clipboard that can be reached; open shows the text"

  /// Returns true if tmux loaded a text into a new buffer; with `-w` it also sends the text to its outer terminal
  /// (tmux 3.2).
  private static func loadIntoTmux(_ text: String) -> Bool {
    let (process, input) = (Process.quiet(["tmux", "load-buffer", "-w", "-"]), Pipe())
    process.standardInput = input
    guard (try? process.run()) != nil else { return false }
    try? input.fileHandleForWriting.write(contentsOf: Data(text.utf8))
    try? input.fileHandleForWriting.close()
    process.waitUntilExit()
    return process.terminationStatus == 0
  }

  func takeMouse(_ isTaken: Bool) { terminal.takeMouse(isTaken) }

  /// Runs the user's command for a push of its app, if there is one.
  func open(_ push: DevicePush) {
    guard let command = commands.command(for: push) else { return }
    Self.spawn(["sh", "-c", command], PushCommand(push, command).environment)
  }

  /// Opens the link of a push at the request of the user: with the user's command, or with the desktop's default
  /// program.
  func openLink(_ push: DevicePush) {
    if commands.command(for: push) != nil { return open(push) }
    if let link = push.link { Self.spawn(["xdg-open", link], [:]) }
  }

  /// Starts a program without access to this terminal, and does not wait for it.
  private static func spawn(_ command: [String], _ environment: [String: String]) {
    let process = Process.quiet(command)
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    try? process.run()
  }
}
