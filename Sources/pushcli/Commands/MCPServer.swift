import Dispatch
import Foundation
import GatewayClient
import Glibc
import PushPolicy
import Queues
import Synchronization

/// Runs ``MCPSession`` on standard input and output, with its calls as tasks.
final class MCPServer: Sendable {
  private enum Event: Sendable {
    case line(InputLines.Line)
    case ended(RPCID, MCPSession.Result)
    case progressed(RPCID, seconds: Int)
    /// Standard input has ended.
    case closed
  }

  private typealias RunningCall = (call: OpenCall, task: Task<Void, Never>)

  private let to: String
  private let sound: String
  private let signing: SigningOptions
  private let gateway: GatewayOptions
  /// The lines of the client are limited by suspending the reader; ends of calls are limited by their number.
  private let events = BoundedQueue<Event>(capacity: 8)
  private let calls = Mutex<[RPCID: RunningCall]>([:])
  /// Both block a thread of their own, and none of the cooperative pool.
  private let reading = DispatchQueue(label: "mcp input")
  private let writing = DispatchQueue(label: "mcp output")

  /// The seconds between two messages about the progress of a question. Clients often end calls after a minute without
  /// a message.
  private static let progressInterval = 15
  private static let chunkSize = 64 << 10

  init(to: String, sound: String, signing: SigningOptions, gateway: GatewayOptions) {
    (self.to, self.sound, self.signing, self.gateway) = (to, sound, signing, gateway)
  }

  /// Serves the client until standard input ends or its reader of standard output is gone. A signal removes all questions from the
  /// screens and ends the process.
  func run() async {
    let stops = StopSignals(also: [SIGHUP])
    let stopping = Task { [self] in
      guard await stops.next() != nil else { return }
      await takeBackAll()
      Glibc.exit(Exit.interrupted.rawValue)
    }
    let reader = Task { [self] in await read() }
    defer {
      stopping.cancel()
      reader.cancel()
    }
    var session = MCPSession()
    var isClosed = false
    while !(isClosed && session.isIdle), let batch = await events.take(atMost: 1) {
      for event in batch {
        if case .closed = event { isClosed = true }
        for effect in effects(of: event, on: &session) where !(await perform(effect)) {
          isClosed = true
          // A client that does not read is gone.
          for effect in session.close() { _ = await perform(effect) }
        }
      }
    }
  }

  private func effects(of event: Event, on session: inout MCPSession) -> [MCPSession.Effect] {
    switch event {
    case .line(let line): return session.take(line)
    case .ended(let id, let result):
      calls.withLock { $0[id] = nil }
      return session.end(id, result).map { [MCPSession.Effect.write($0)] } ?? []
    case .progressed(let id, let seconds):
      return session.progress(id, seconds: seconds).map { [MCPSession.Effect.write($0)] } ?? []
    case .closed: return session.close()
    }
  }

  /// Returns false if the client does not read any more.
  private func perform(_ effect: MCPSession.Effect) async -> Bool {
    switch effect {
    case .write(let line):
      return await withCheckedContinuation { continuation in
        writing.async { continuation.resume(returning: Output.send(json: line)) }
      }
    case .begin(let id, let call): begin(id, call)
    case .cancel(let id): cancel(id)
    }
    return true
  }

  // MARK: Input

  private func read() async {
    var lines = InputLines(maximumSize: MCPSession.maximumLineSize)
    while case let bytes = await chunk(), !bytes.isEmpty {
      for line in lines.take(bytes) { await events.send(.line(line)) }
    }
    if let line = lines.end() { await events.send(.line(line)) }
    await events.send(.closed)
  }

  private func chunk() async -> [UInt8] {
    await withCheckedContinuation { continuation in
      reading.async { continuation.resume(returning: MCPServer.nextBytes()) }
    }
  }

  /// Waits for standard input; an empty array is its end.
  private static func nextBytes() -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: chunkSize)
    while true {
      let count = unsafe bytes.withUnsafeMutableBytes { buffer in
        unsafe Glibc.read(STDIN_FILENO, buffer.baseAddress, buffer.count)
      }
      if count < 0, errno == EINTR { continue }
      if count < 0, errno == EAGAIN {
        var state = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
        _ = unsafe poll(&state, 1, -1)
        continue
      }
      return Array(bytes.prefix(max(0, count)))
    }
  }

  // MARK: Calls

  private func begin(_ id: RPCID, _ call: MCPCall) {
    let open = OpenCall()
    let task = Task { [self] in
      let reports = progress(of: id)
      let found = await result(of: call, open)
      reports.cancel()
      if open.end() { events.post(.ended(id, found)) }
    }
    calls.withLock { $0[id] = (open, task) }
  }

  /// Reports the time of a call until the task is canceled.
  private func progress(of id: RPCID) -> Task<Void, any Error> {
    Task { [events] in
      var seconds = 0
      while true {
        try await Task.sleep(for: .seconds(MCPServer.progressInterval))
        seconds += MCPServer.progressInterval
        await events.send(.progressed(id, seconds: seconds))
      }
    }
  }

  /// Removes the question of a call from all screens, and then ends the call.
  private func cancel(_ id: RPCID) {
    guard let running = calls.withLock({ $0[id] }) else { return }
    Task { [events] in
      await running.call.takeBack()
      running.task.cancel()
      if running.call.end() { events.post(.ended(id, MCPSession.Result(text: "canceled", isError: true))) }
    }
  }

  private func takeBackAll() async {
    let running = calls.withLock { Array($0.values) }
    await withDiscardingTaskGroup { group in
      for (call, _) in running { group.addTask { await call.takeBack() } }
    }
  }

  private func result(of call: MCPCall, _ open: OpenCall) async -> MCPSession.Result {
    do {
      switch call {
      case .notify(let message): return try await notify(message)
      case .ask(let question): return try await ask(question, open)
      }
    } catch {
      return MCPSession.Result(text: CommandFailure(any: error).message, isError: true)
    }
  }

  private func notify(_ message: MCPCall.Message) async throws -> MCPSession.Result {
    let content = PayloadContent(
      title: message.title, body: message.message, sound: sound == "none" ? nil : sound,
      level: message.level.flatMap { InterruptionLevel(rawValue: $0) })
    let answer = try await ProviderPush(to: to, content: content, signing: signing, gateway: gateway).delivered()
    guard answer.status == 200 else {
      throw CommandFailure(.refused, "the message was refused with \(ProviderRefusal.words(of: answer))")
    }
    return MCPSession.Result(text: "{\"apns_id\":\(jsonString(answer.apnsID ?? "")),\"outcome\":\"accepted\"}")
  }

  private func ask(_ call: MCPCall.Question, _ open: OpenCall) async throws -> MCPSession.Result {
    let actions = call.actions.enumerated().map { AlertAction(id: "action-\($0.offset + 1)", title: $0.element) }
    let request = QuestionRequest(
      to: to, title: call.question, body: call.details, actions: actions, sound: sound, timeout: call.timeout,
      escalateTo: call.escalateTo, after: call.after, signing: signing, gateway: gateway)
    let question = try await request.open()
    guard open.begin(question) else { throw CommandFailure(.interrupted, "canceled") }
    let (id, outcome) = try await question.ask()
    var result = QuestionResult(outcome, id: id, actions: actions)
    // The ids are made here; the model has the titles.
    result.action = nil
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return MCPSession.Result(text: String(decoding: try encoder.encode(result), as: UTF8.self))
  }
}

/// A running call of a tool.
private final class OpenCall: Sendable {
  private struct State {
    var question: Question?
    var isCanceled = false
    var isEnded = false
  }

  private let state = Mutex(State())

  /// Notes the question of the call before it is asked; returns false if the call was canceled.
  func begin(_ question: Question) -> Bool {
    state.withLock { state in
      state.question = question
      return !state.isCanceled
    }
  }

  /// Removes the question from all screens, if it is asked; prevents it if not.
  func takeBack() async {
    let question = state.withLock { state in
      state.isCanceled = true
      return state.question
    }
    await question?.takeBack()
  }

  /// Returns true at the first end of the call: a canceled call also ends later on its own.
  func end() -> Bool {
    state.withLock { state in
      defer { state.isEnded = true }
      return !state.isEnded
    }
  }
}
