/// Runs the loop of a model whose user reads and types lines, and performs the effects of the model.
///
/// It needs only lines from the terminal: it changes no mode and sends no sequence. Standard input may be a pipe.
package struct LineProgram<Model: LineModel>: Sendable {
  private let model: Model
  private let terminal: Terminal
  private let inbox: Inbox<Model.Message>
  private let clock: @Sendable () -> Model.Instant
  private let write: @Sendable (String) -> Void
  private let pace = LinePace()

  /// - Parameters:
  ///   - inbox: The queue of messages from other tasks; senders are suspended while it is full.
  ///   - clock: Returns the time of each update.
  ///   - write: Writes lines, and returns when the user can have read them.
  package init(
    model: Model, terminal: Terminal, inbox: Inbox<Model.Message>, clock: @escaping @Sendable () -> Model.Instant,
    write: @escaping @Sendable (String) -> Void
  ) {
    (self.model, self.terminal, self.inbox) = (model, terminal, inbox)
    (self.clock, self.write) = (clock, write)
  }

  /// Runs the model until it quits.
  ///
  /// Each loop iteration takes the queued events, updates the model, writes the output, and queues the effects. If
  /// the first signal cannot end the program because the terminal accepts no output, a second signal ends the
  /// process.
  /// - Parameter perform: Performs the effects of one loop iteration, in a separate task.
  /// - Returns: True if a signal ended the program, and not the user or the end of the input.
  package func run(perform: @escaping EffectQueue<Model>.Perform) async -> Bool {
    SignalPipe.install()
    defer { SignalPipe.uninstall() }
    let effects = EffectQueue<Model>(perform: perform) { inbox.nudge() }
    // A dedicated thread, because the reader blocks in `poll`.
    let reader = Task(executorPreference: SerialQueue("lines")) {
      LineReader(terminal: terminal, inbox: inbox, pace: pace).run()
    }
    await withTaskCancellationHandler {
      await withTaskExecutorPreference(SerialQueue("words", isUrgent: true)) { await turn(effects) }
    } onCancel: {
      inbox.post(.input(.terminate))
    }
    inbox.close()
    SignalPipe.wake()
    let isInterrupted = await reader.value
    await effects.finish()
    return isInterrupted
  }

  private func turn(_ queue: EffectQueue<Model>) async {
    var model = model
    var effects = model.update(Model.message(for: .resized(terminal.size)), now: clock())
    while true {
      let lines = model.takeOutput()
      if !lines.isEmpty {
        write(lines)
        model.noteShown(now: clock())
      }
      queue.post(effects)
      if effects.contains(Model.quit) { return }
      effects = []
      for event in await inbox.take(messagesAreWelcome: !queue.isFull) {
        switch event {
        case .message(let message): effects += model.update(message, now: clock())
        case .input(let input):
          if case .line = input { pace.noteTaken() }
          effects += model.update(Model.message(for: input), now: clock())
        case .redraw, .suspend: break
        }
        if effects.last == Model.quit { break }
      }
    }
  }
}
