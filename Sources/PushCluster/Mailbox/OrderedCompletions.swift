import DequeModule

/// The order in which completions are called. Used on one queue.
final class OrderedCompletions: @unchecked Sendable {
  final class Ticket: @unchecked Sendable {
    fileprivate var call: (@Sendable () -> Void)?
  }

  private var line: Deque<Ticket> = []

  func take() -> Ticket {
    let ticket = Ticket()
    line.append(ticket)
    return ticket
  }

  /// Calls `call` as soon as the calls of all earlier tickets were made.
  func done(_ ticket: Ticket, _ call: @escaping @Sendable () -> Void) {
    ticket.call = call
    while let first = line.first, let call = first.call {
      // The closure may refer to the ticket, which would keep both alive.
      first.call = nil
      line.removeFirst()
      call()
    }
  }
}
