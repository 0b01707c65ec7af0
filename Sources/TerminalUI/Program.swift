/// The loop between a model, its terminal and whoever carries out its effects.
package struct Program<Model: ProgramModel>: Sendable {
  private let model: Model
  private let terminal: Terminal
  private let inbox: Inbox<Model.Message>
  private let clock: @Sendable () -> Model.Instant

  /// - Parameters:
  ///   - inbox: Where messages from elsewhere come in; whoever sends them waits while too many do.
  ///   - clock: Gives the time of each update.
  package init(
    model: Model, terminal: Terminal, inbox: Inbox<Model.Message>, clock: @escaping @Sendable () -> Model.Instant
  ) {
    self.model = model
    self.terminal = terminal
    self.inbox = inbox
    self.clock = clock
  }

  /// Runs the model until it quits, and gives the terminal back.
  ///
  /// Each turn takes all that waits, updates, draws once, and hands the effects over.
  /// - Parameter perform: Carries out the effects of a turn, beside the loop.
  /// - Throws: ``TerminalError`` when the terminal cannot be taken.
  package func run(perform: @escaping EffectQueue<Model>.Perform) async throws {
    try terminal.enter()
    defer { terminal.leave() }
    SignalPipe.install()
    defer { SignalPipe.uninstall() }

    let effects = EffectQueue<Model>(perform: perform) { inbox.nudge() }
    // A thread of its own: it waits in `poll`.
    let reader = Task(executorPreference: SerialQueue("keys")) {
      EventReader(terminal: terminal, inbox: inbox).run()
    }
    await withTaskCancellationHandler {
      // Keys wait for nothing that happens elsewhere.
      await withTaskExecutorPreference(SerialQueue("screen", isUrgent: true)) {
        await turn(effects)
      }
    } onCancel: {
      inbox.post(.input(.terminate))
    }
    inbox.close()
    SignalPipe.wake()
    await reader.value
    await effects.finish()
  }

  private func turn(_ queue: EffectQueue<Model>) async {
    var model = model
    var painter = FramePainter(usesColor: terminal.usesColor)
    var size = terminal.size
    var effects = model.update(Model.message(for: .resized(size)), now: clock())
    while true {
      terminal.write(painter.paint(model.view(size: size)))
      queue.post(effects)
      if effects.contains(Model.quit) { return }

      effects = []
      for event in await inbox.take(messagesAreWelcome: !queue.isFull) {
        switch event {
        case .message(let message): effects += model.update(message, now: clock())
        case .input(let input):
          if case .resized(let newSize) = input {
            size = newSize
            painter.invalidate()
          }
          effects += model.update(Model.message(for: input), now: clock())
        case .redraw, .suspend:
          // A redraw takes the terminal anew: after a stop from outside, the shell had it in between.
          painter.invalidate()
          terminal.leave()
          if case .suspend = event { SignalPipe.stopJob() }
          try? terminal.enter()
          size = terminal.size
          effects += model.update(Model.message(for: .resized(size)), now: clock())
        }
        if effects.last == Model.quit { break }
      }
    }
  }
}
