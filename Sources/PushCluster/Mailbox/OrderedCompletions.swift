/// The order in which completions are called. Used on one queue.
final class OrderedCompletions: @unchecked Sendable {
  final class Ticket: @unchecked Sendable {
    fileprivate var call: (@Sendable () -> Void)?
  }

  private var line: [Ticket] = []
  private var first = 0

  func take() -> Ticket {
    let ticket = Ticket()
    line.append(ticket)
    return ticket
  }

  /// Calls `call` as soon as the calls of all earlier tickets were made.
  func done(_ ticket: Ticket, _ call: @escaping @Sendable () -> Void) {
    ticket.call = call
    while first < line.count, let call = line[first].call {
      // The closure may refer to the ticket, which would keep both alive.
      line[first].call = nil
      first += 1
      call()
    }
    if first > 1024 || first == line.count {
      line.removeFirst(first)
      first = 0
    }
  }
}
