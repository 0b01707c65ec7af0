/// Runs the loop of a model on a full-screen terminal, and performs the effects of the model.
package struct Program<Model: ProgramModel>: Sendable {
  private let model: Model
  private let terminal: Terminal
  private let inbox: Inbox<Model.Message>
  private let clock: @Sendable () -> Model.Instant

  /// - Parameters:
  ///   - inbox: The queue of messages from other tasks; senders are suspended while it is full.
  ///   - clock: Returns the time of each update.
  package init(
    model: Model, terminal: Terminal, inbox: Inbox<Model.Message>, clock: @escaping @Sendable () -> Model.Instant
  ) {
    self.model = model
    self.terminal = terminal
    self.inbox = inbox
    self.clock = clock
  }

  /// Runs the model until it quits, and then restores the terminal.
  ///
  /// Each loop iteration takes the queued events, updates the model, draws once, and queues the effects.
  /// - Parameter perform: Performs the effects of one loop iteration, in a separate task.
  /// - Throws: ``TerminalError`` if the terminal cannot be used.
  package func run(perform: @escaping EffectQueue<Model>.Perform) async throws {
    try terminal.enter()
    defer { terminal.leave() }
    SignalPipe.install()
    defer { SignalPipe.uninstall() }

    let effects = EffectQueue<Model>(perform: perform) { inbox.nudge() }
    // A dedicated thread, because the reader blocks in `poll`.
    let reader = Task(executorPreference: SerialQueue("keys")) {
      EventReader(terminal: terminal, inbox: inbox).run()
    }
    await withTaskCancellationHandler {
      // A dedicated thread, so that no other work delays the response to keys.
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
          // A redraw sets up the terminal again: if another process stopped the job, the shell has used the terminal
          // since.
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
