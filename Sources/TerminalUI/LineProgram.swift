/// The loop between a model, a person who reads and types lines, and whoever carries out its effects.
///
/// It asks nothing of a terminal but lines: it changes no mode and sends no sequence. Standard input may be a pipe.
package struct LineProgram<Model: LineModel>: Sendable {
  private let model: Model
  private let terminal: Terminal
  private let inbox: Inbox<Model.Message>
  private let clock: @Sendable () -> Model.Instant
  private let write: @Sendable (String) -> Void
  private let pace = LinePace()

  /// - Parameters:
  ///   - inbox: Where messages from elsewhere come in; whoever sends them waits while too many do.
  ///   - clock: Gives the time of each update.
  ///   - write: Writes lines, and returns when a person can have read them.
  package init(
    model: Model, terminal: Terminal, inbox: Inbox<Model.Message>, clock: @escaping @Sendable () -> Model.Instant,
    write: @escaping @Sendable (String) -> Void
  ) {
    (self.model, self.terminal, self.inbox) = (model, terminal, inbox)
    (self.clock, self.write) = (clock, write)
  }

  /// Runs the model until it quits.
  ///
  /// Each turn takes all that waits, updates, writes, and hands the effects over. A second signal ends the process where
  /// the first one meets a terminal that takes no lines.
  /// - Parameter perform: Carries out the effects of a turn, beside the loop.
  /// - Returns: whether a signal ended it, and not the person or the end of the input.
  package func run(perform: @escaping EffectQueue<Model>.Perform) async -> Bool {
    SignalPipe.install()
    defer { SignalPipe.uninstall() }
    let effects = EffectQueue<Model>(perform: perform) { inbox.nudge() }
    // A thread of its own: it waits in `poll`.
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
