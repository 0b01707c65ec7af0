import Foundation

/// The loop between the phone, its terminal and whoever carries out its effects.
enum Program {
  /// Runs the phone until it quits, and gives the terminal back.
  ///
  /// Each turn takes all that waits, updates, draws once, and hands the effects over. What is to be stored comes first
  /// among them: nothing is told to anybody before it is.
  /// - Parameters:
  ///   - inbox: Where the gateway's messages come in; whoever sends them waits while too many do.
  ///   - perform: Carries out the effects of a turn, beside the loop.
  /// - Throws: ``TerminalError`` when the terminal cannot be taken.
  static func run(
    model: PhoneModel,
    terminal: Terminal,
    inbox: Inbox,
    perform: @escaping EffectQueue.Perform
  ) async throws {
    try terminal.enter()
    defer { terminal.leave() }
    SignalPipe.install()
    defer { SignalPipe.uninstall() }

    let effects = EffectQueue(perform: perform) { inbox.nudge() }
    let reader = Task { await EventReader(terminal: terminal, inbox: inbox).run() }
    await withTaskCancellationHandler {
      // Keys wait for nothing that happens elsewhere.
      await withTaskExecutorPreference(SerialQueue("screen", qos: .userInteractive)) {
        await turn(model: model, terminal: terminal, inbox: inbox, effects: effects)
      }
    } onCancel: {
      inbox.post(.message(.terminate))
    }
    inbox.close()
    SignalPipe.wake()
    await reader.value
    await effects.finish()
  }

  private static func turn(model: PhoneModel, terminal: Terminal, inbox: Inbox, effects queue: EffectQueue) async {
    var model = model
    var painter = FramePainter(usesColour: terminal.usesColour)
    var size = terminal.size
    var effects = model.update(.resized(size), now: Date())
    while true {
      terminal.write(painter.paint(model.view(size: size)))
      queue.post(effects, model.state)
      if effects.contains(.quit) { return }

      effects = []
      for event in await inbox.take(messagesAreWelcome: !queue.isFull) {
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
