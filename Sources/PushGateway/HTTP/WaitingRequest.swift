import HTTP2Transport

/// A request for a future event: it is canceled if its stream closes, and answered with the present data if its
/// stream is to end.
final class WaitingRequest: StreamConsumer {
  private let task: Task<Void, Never>

  init(_ task: Task<Void, Never>) { self.task = task }

  func drain() { task.cancel() }
  func closed() { task.cancel() }
}
