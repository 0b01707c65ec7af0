import Foundation

/// The loop between the phone, its terminal and whoever carries out its effects.
enum Program {
  /// Runs the phone until it quits, and gives the terminal back.
  ///
  /// Each turn takes all that waits, updates, draws once, and then has the effects performed in order. A save comes
  /// first and once per turn, with the model at the end of it: nothing is told to anybody before it is stored.
  /// - Parameters:
  ///   - messages: What the gateway says; its end is not the end of the phone (L3).
  ///   - perform: Carries out one effect, with the model after it. Should not wait for the network.
  /// - Throws: ``TerminalError`` when the terminal cannot be taken.
  static func run(
    model: PhoneModel,
    terminal: Terminal,
    messages: AsyncStream<PhoneMessage>,
    perform: @escaping (PhoneEffect, PhoneModel) async -> Void
  ) async throws {
    try terminal.enter()
    defer { terminal.leave() }
    SignalPipe.install()
    defer { SignalPipe.uninstall() }

    let inbox = Inbox()
    let reader = Task { await EventReader(terminal: terminal, inbox: inbox).run() }
    let forwarder = Task {
      for await message in messages { await inbox.send(message) }
    }
    await withTaskCancellationHandler {
      await turn(model: model, terminal: terminal, inbox: inbox, perform: perform)
    } onCancel: {
      inbox.post(.message(.terminate))
    }
    forwarder.cancel()
    inbox.close()
    SignalPipe.wake()
    await reader.value
  }

  private static func turn(
    model: PhoneModel,
    terminal: Terminal,
    inbox: Inbox,
    perform: (PhoneEffect, PhoneModel) async -> Void
  ) async {
    var model = model
    var painter = FramePainter(usesColour: terminal.usesColour)
    var size = terminal.size
    var effects = model.update(.resized(size), now: Date())
    while true {
      terminal.write(painter.paint(model.view(size: size)))
      if effects.contains(.save) { await perform(.save, model) }
      for effect in effects where effect != .save { await perform(effect, model) }
      if effects.contains(.quit) { return }

      effects = []
      for event in await inbox.take() {
        switch event {
        case .message(let message):
          if case .resized(let newSize) = message {
            size = newSize
            painter.invalidate()
          }
          effects += model.update(message, now: Date())
        case .redraw, .suspend:
          // A redraw takes the terminal anew: after a stop from outside, the shell had it in between.
          painter.invalidate()
          terminal.leave()
          if case .suspend = event { SignalPipe.stopJob() }
          try? terminal.enter()
          size = terminal.size
          effects += model.update(.resized(size), now: Date())
        }
        if effects.last == .quit { break }
      }
    }
  }
}
